import { WorkerEntrypoint } from "cloudflare:workers";
import type { BindingAnswer, BindingCall } from "../../domain/binding.ts";
import type { Bindings } from "../../platform/bindings.ts";
import { addMethods, type Client } from "./methods.ts";

/** Answers a call over a service binding with these props. */
export type AnswerBound = (
  call: BindingCall,
  by: { props: unknown; env: Bindings; ctx: ExecutionContext },
) => Promise<BindingAnswer>;

/** A type with a name, which the declarations of the packages can write out. */
type MemoryClass<Methods> = new (
  ctx: ExecutionContext,
  env: Bindings,
) => WorkerEntrypoint<Bindings, unknown> & Methods;

/** The entrypoint for other Workers of the account, over the same routes as HTTP. `Methods`: the methods of the client, as they cross. */
export function memoryOf<Methods>(answer: AnswerBound, client: Client): MemoryClass<Methods> {
  class Memory extends WorkerEntrypoint<Bindings, unknown> {
    /** One call of the API. `cairn({ binding })` makes them, and so do all other methods. */
    call(call: BindingCall): Promise<BindingAnswer> {
      return answer(call, { props: this.ctx.props, env: this.env, ctx: this.ctx });
    }
  }
  addMethods(Memory, client);
  // The compiler sees no method that is defined by its name.
  return Memory as unknown as MemoryClass<Methods>;
}
