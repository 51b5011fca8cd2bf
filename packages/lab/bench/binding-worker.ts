// A Worker that calls Cairn beside it as often as its query says: over the service binding's RPC, or over its HTTP.
import { type Binding, type Cairn, cairn, type Transport } from "../../client/src/index.ts";

type Env = { MEMORY: Binding; CAIRN: Transport; TOKEN: string };

/** Each call of the measurement, and a check that it did what it should. */
const calls: Record<string, (memory: Cairn, i: number) => Promise<boolean>> = {
  get: async (memory, i) => (await memory.kv.get<{ step: number }>("entries", `k${i % 100}`)) !== null,
  set: async (memory, i) => (await memory.kv.set("entries", `k${i % 100}`, value(i))).version !== "",
  recall: async (memory, i) =>
    (await memory.recall("recaller", { query: `when does ferry ${i % 50} leave?` })).hits.length > 0,
  remember: async (memory, i) =>
    (await memory.memories.remember("recaller", { text: `The ferry ${i} leaves at ${i % 24} o'clock.` }))
      .id !== "",
};

const value = (i: number) => ({
  step: i,
  plan: "book the ferry to the island",
  done: false,
  notes: "x".repeat(100),
});

export default {
  async fetch(request: Request, { MEMORY, CAIRN, TOKEN }: Env): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const call = calls[searchParams.get("call") ?? ""];
    if (call === undefined) return new Response("no such call", { status: 404 });
    const memory =
      searchParams.get("over") === "binding"
        ? cairn({ binding: MEMORY })
        : cairn({ fetch: CAIRN, token: TOKEN });
    for (let i = 0; i < Number(searchParams.get("times")); i++)
      // oxlint-disable-next-line no-await-in-loop -- one after another, as one request calls
      if (!(await call(memory, i))) return new Response("another answer", { status: 500 });
    return new Response("done");
  },
};
