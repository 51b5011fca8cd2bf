// The Worker under test: the real app and the real objects, over ports that can fail and a clock that can jump.
import { PromptCache as RealPromptCache } from "../durable-objects/prompt-cache.ts";
import { UserMemory as RealUserMemory } from "../durable-objects/user-memory.ts";
import type { Bindings } from "../src/platform/bindings.ts";
import type { Memory as Methods } from "../packages/client/src/entrypoint.ts";
import { clientInWorker } from "../packages/client/src/in-worker.ts";
import { memoryOf } from "../src/worker/rpc/memory.ts";
import { createWorker } from "../src/worker/worker.ts";
import { bindingsVersion, faultyPorts } from "./doubles/ports.ts";
import { dieAfterDeleteAll, failTransactions, keepStates } from "./doubles/storage.ts";

export class UserMemory extends RealUserMemory {
  constructor(ctx: DurableObjectState, env: Bindings) {
    super(keepStates(ctx), env, faultyPorts(env));
    failTransactions(ctx.storage);
    dieAfterDeleteAll(ctx);
  }
}

export class PromptCache extends RealPromptCache {
  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env, faultyPorts(env).now);
  }
}

let worker = createWorker(faultyPorts);
let built = bindingsVersion();
const current = (): typeof worker => {
  if (built !== bindingsVersion()) [worker, built] = [createWorker(faultyPorts), bindingsVersion()];
  return worker;
};

export const Memory = memoryOf<Methods>((call, by) => current().answer(call, by), clientInWorker());

export default {
  fetch: (request, env, ctx) => current().fetch(request, env, ctx),
  scheduled: (event, env) => current().scheduled(event, env),
} satisfies ExportedHandler<Bindings>;
