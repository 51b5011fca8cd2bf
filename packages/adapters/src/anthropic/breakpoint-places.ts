/** The lifetimes that the Messages API knows. */
export type CacheTtl = "5m" | "1h";

/** A block of a prompt in the order of the API (tools, system, messages), and the breakpoints that it already has. */
export type PromptBlock = { tokens: number; marked: readonly CacheTtl[] };

/** The most breakpoints of a request (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). */
const MOST = 4;

/** Bytes of UTF-8 in a token: at the lower end, as an estimate that is too high costs nothing. */
const BYTES_PER_TOKEN = 3;

/**
 * The shortest prompts that models cache, in tokens; later models cache from 512 on. A breakpoint in a shorter prompt does
 * nothing and costs nothing (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
 */
const SHORTEST: readonly [model: RegExp, tokens: number][] = [
  [/opus-4-[56]\b|haiku-4-5\b/, 4096],
  [/opus-4-7\b|3(-5)?-haiku/, 2048],
  [/(opus|sonnet)-4\b|sonnet-5(?!-\d\b)|claude-3-/, 1024],
];
const SHORTEST_OF_OTHERS = 512;

/** The tokens of a value in a prompt, estimated by its size. */
export const estimatedTokens = (value: unknown): number =>
  new TextEncoder().encode(JSON.stringify(value)).byteLength / BYTES_PER_TOKEN;

export const shortestCached = (model: string): number =>
  SHORTEST.find(([pattern]) => pattern.test(model))?.[1] ?? SHORTEST_OF_OTHERS;

/**
 * Where to put breakpoints, by the index of the block that each follows, with its lifetime. `wanted` has the indexes, the most
 * important first. The caller's breakpoints stay and count. A lifetime of an hour must not follow one of five minutes, so
 * `ttl` yields to the caller's.
 */
export function placeBreakpoints(
  blocks: readonly PromptBlock[],
  wanted: readonly number[],
  { model, ttl }: { model: string; ttl: CacheTtl },
): ReadonlyMap<number, CacheTtl> {
  const placed = new Map<number, CacheTtl>();
  const free = MOST - blocks.flatMap(({ marked }) => marked).length;
  const shortest = shortestCached(model);
  for (const index of wanted) {
    if (placed.size >= free) break;
    const before = blocks.slice(0, index + 1);
    const tokens = before.reduce((sum, block) => sum + block.tokens, 0);
    if (tokens < shortest || blocks[index]?.marked.length !== 0) continue;
    const isFollowedByHour = blocks.slice(index + 1).some(({ marked }) => marked.includes("1h"));
    const followsMinutes = before.some(({ marked }) => marked.includes("5m"));
    placed.set(index, isFollowedByHour ? "1h" : followsMinutes ? "5m" : ttl);
  }
  return placed;
}
