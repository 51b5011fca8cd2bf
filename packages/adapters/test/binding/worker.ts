// A Worker that calls Cairn over a binding as its tests say: a method with arguments, of the client, of an adapter, or of the
// binding itself.
import { type Binding, cairn, CairnError } from "../../../client/src/index.ts";
import type { Memory } from "../../../client/src/entrypoint.ts";
import type { Step } from "./step.ts";
import { cairnCache, cairnConversations } from "../../src/gemstack.ts";

type Env = Record<"MEMORY" | "OF_ALICE", Service<Memory>> & { WRONG: Binding };

type Method = (this: unknown, ...args: unknown[]) => unknown;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { binding, method, args } = (await request.json()) as Step;
    const memory = cairn({ binding: env[binding], retry: { attempts: 2, withinMs: 5_000 } });
    const all = { env, memory, conversations: cairnConversations({ memory }), cache: cairnCache({ memory }) };
    try {
      return Response.json({ value: (await called(all, method.split("."), args)) ?? null });
    } catch (error) {
      if (!(error instanceof CairnError)) return Response.json({ thrown: String(error) });
      const { code, status, details, message } = error;
      return Response.json({ error: { code, status, details, message } });
    }
  },
};

/** The outcome of `memory.kv.get`, by its names. A stream comes as its text. */
async function called(of: unknown, [name = "", ...rest]: string[], args: unknown[]): Promise<unknown> {
  // The tests name what there is.
  const member = (of as Record<string, unknown>)[name];
  if (rest.length > 0) return called(member, rest, args);
  // A method of a binding has no `apply`: that would be a name to call, too.
  const value = await Reflect.apply(member as Method, of, args);
  return value instanceof ReadableStream ? new Response(value).text() : value;
}
