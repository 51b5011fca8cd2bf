import type { CacheTtl } from "./breakpoint-places.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import { memoryOf } from "../context/memory-of.ts";
import type { MemoryOptions } from "../context/memory-options.ts";
import { MEMORY_OPTIONS, requireMemoryOptions } from "../context/memory-options.ts";
import { NamedThread } from "../context/named-thread.ts";
import { requireValid } from "../options/require-options.ts";
import { withBreakpoints } from "./breakpoints.ts";
import { blocksOf, type MessagesRequest, textBlock, withMemoryBlocks } from "./request.ts";

export type WithMemoryOptions = MemoryOptions & {
  /** The life of Claude's prompt cache without use; `5m` unless set. `false` sets no `cache_control`. */
  cache?: { ttl: CacheTtl } | false;
};

const OPTIONS: OptionNames<WithMemoryOptions> = { ...MEMORY_OPTIONS, cache: { ttl: true } };

/**
 * Makes a function that gives the parameters of a Messages request memory. The stable block follows the caller's system prompt,
 * and each of the user's messages gets the block that it was first sent with. `cache_control` is set at the ends of both. Failures
 * go to `onError` and break no request, unless `strict`. Nothing is saved.
 *
 * @example
 * const remembering = withMemory({ memory, user: "alice", thread });
 * const answer = await client.messages.create(await remembering({ model, max_tokens: 1024, messages }));
 */
export function withMemory(options: WithMemoryOptions) {
  requireMemoryOptions("withMemory", options, OPTIONS);
  const { cache, context, thread: given } = options;
  const isValid = cache === undefined || cache === false || ["5m", "1h"].includes(cache?.ttl);
  requireValid("withMemory", { cache: isValid }, '{ ttl: "5m" }, { ttl: "1h" } or false');
  const thread = given === undefined ? undefined : new NamedThread(options, given);
  const ttl = cache === false ? undefined : (cache?.ttl ?? "5m");
  const reading: MemoryOptions = {
    ...options,
    context: context !== false && { ...(ttl !== undefined && { cacheTtl: ttl }), ...context },
  };

  return async function paramsWithMemory<Params extends MessagesRequest>(
    params: Params,
    { signal }: CallOptions = {},
  ): Promise<Params> {
    const { stable, blocks } = await memoryOf(reading, thread, params.messages, { ended: signal });
    const system = [...blocksOf(params.system), ...(stable === "" ? [] : [textBlock(stable)])];
    const request = {
      ...params,
      ...(system.length > 0 && { system }),
      messages: withMemoryBlocks(params.messages, blocks),
    };
    return ttl === undefined ? request : withBreakpoints(request, ttl);
  };
}
