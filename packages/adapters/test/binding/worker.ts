// A Worker that calls Cairn over a binding as its tests say: a method, of the client or of an adapter, with arguments.
import { type Binding, cairn, CairnError } from "../../../client/src/index.ts";
import { cairnCache, cairnConversations } from "../../src/gemstack.ts";

type Env = Record<"MEMORY" | "OF_ALICE" | "WRONG", Binding>;
export type Step = { binding: keyof Env; method: string; args: unknown[] };

type Method = (this: unknown, ...args: unknown[]) => unknown;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { binding, method, args } = (await request.json()) as Step;
    const memory = cairn({ binding: env[binding], retry: { attempts: 2, withinMs: 5_000 } });
    const all = { memory, conversations: cairnConversations({ memory }), cache: cairnCache({ memory }) };
    try {
      return Response.json({ value: (await called(all, method.split("."), args)) ?? null });
    } catch (error) {
      if (!(error instanceof CairnError)) throw error;
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
  const value = await (member as Method).apply(of, args);
  return value instanceof ReadableStream ? new Response(value).text() : value;
}
