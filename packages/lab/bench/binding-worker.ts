// A Worker that calls Cairn beside it as often as its query says: by the client over the service binding or over HTTP, or by
// the methods of the binding.
import { type Cairn, cairn, type Transport } from "../../client/src/index.ts";
import type { Memory, Remote } from "../../client/src/entrypoint.ts";

type Env = { MEMORY: Service<Memory>; CAIRN: Transport; TOKEN: string };
type Call<Over> = (memory: Over, i: number) => Promise<boolean>;

/** Each call of the measurement, and a check that it did what it should. */
const calls: Record<string, Call<Cairn>> = {
  get: async (memory, i) => (await memory.kv.get<{ step: number }>("entries", `k${i % 100}`)) !== null,
  set: async (memory, i) => (await memory.kv.set("entries", `k${i % 100}`, value(i))).version !== "",
  recall: async (memory, i) =>
    (await memory.recall("recaller", { query: `when does ferry ${i % 50} leave?` })).hits.length > 0,
  remember: async (memory, i) =>
    (await memory.memories.remember("recaller", { text: `The ferry ${i} leaves at ${i % 24} o'clock.` }))
      .id !== "",
};

const byMethods: Record<string, Call<Env["MEMORY"]>> = {
  get: async (memory, i) => valueOf(await memory.kv.get("entries", `k${i % 100}`)) !== null,
  set: async (memory, i) => valueOf(await memory.kv.set("entries", `k${i % 100}`, value(i))).version !== "",
  recall: async (memory, i) =>
    valueOf(await memory.recall("recaller", { query: `when does ferry ${i % 50} leave?` })).hits.length > 0,
  remember: async (memory, i) =>
    valueOf(
      await memory.memories.remember("recaller", { text: `The ferry ${i} leaves at ${i % 24} o'clock.` }),
    ).id !== "",
};

function valueOf<T>(answer: Remote<T>): T {
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

const value = (i: number) => ({
  step: i,
  plan: "book the ferry to the island",
  done: false,
  notes: "x".repeat(100),
});

export default {
  async fetch(request: Request, { MEMORY, CAIRN, TOKEN }: Env): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const [name, over] = [searchParams.get("call") ?? "", searchParams.get("over")];
    const [byClient, byMethod] = [calls[name], byMethods[name]];
    if (byClient === undefined || byMethod === undefined)
      return new Response("no such call", { status: 404 });
    const client = over === "binding" ? cairn({ binding: MEMORY }) : cairn({ fetch: CAIRN, token: TOKEN });
    const call = (i: number) => (over === "methods" ? byMethod(MEMORY, i) : byClient(client, i));
    for (let i = 0; i < Number(searchParams.get("times")); i++)
      // oxlint-disable-next-line no-await-in-loop -- one after another, as one request calls
      if (!(await call(i))) return new Response("another answer", { status: 500 });
    return new Response("done");
  },
};
