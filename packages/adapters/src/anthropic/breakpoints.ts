import { type CacheTtl, estimatedTokens, placeBreakpoints, type PromptBlock } from "./breakpoint-places.ts";
import { field, listField } from "../../../../src/domain/conversation/message.ts";
import { type Block, blocksOf, type MessagesRequest, type TextBlock } from "./request.ts";

/** Blocks that take a breakpoint. A model's thoughts take none. */
const CACHEABLE: ReadonlySet<unknown> = new Set([
  "text",
  "image",
  "document",
  "search_result",
  "tool_use",
  "tool_result",
]);

/**
 * The request with breakpoints, the most important first: at its end, at the end of the system prompt, and at the user's
 * message before. So each turn writes a cache for the next one. The third is for long runs: the API looks 20 blocks back.
 *
 * A tool runner sends later steps by itself: there the first is one of the request, which the API moves to the last block.
 */
export function withBreakpoints<R extends MessagesRequest>(request: R, ttl: CacheTtl): R {
  const { model, tools = [], messages } = request;
  const system = blocksOf(request.system);
  const contents = messages.map(({ content }) => blocksOf(content));
  const lists = [system, ...contents];
  const starts = startsOf(tools.length, lists);
  const endOf = (list: number): number => {
    const block = lists[list]?.findLastIndex(isCacheable) ?? -1;
    return block < 0 ? -1 : (starts[list] ?? 0) + block;
  };
  const end = endOf(lists.length - 1);
  const before = messages.slice(0, -1).findLastIndex(isSaid) + 1;
  const wanted = [end, endOf(0), ...(before > 0 ? [endOf(before)] : [])].filter((index) => index >= 0);
  const blocks = [...tools.map(toolBlock), ...lists.flat().map(promptBlock)];
  const placed = placeBreakpoints(withMark(blocks, end, request), wanted, { model, ttl });
  const ofRequest = tools.some(isRunnable) ? placed.get(end) : undefined;
  const marked = (list: number): readonly Block[] =>
    (lists[list] ?? []).map((block, at) => {
      const index = (starts[list] ?? 0) + at;
      const found = index === end && ofRequest !== undefined ? undefined : placed.get(index);
      return found === undefined ? block : { ...block, cache_control: cacheControl(found) };
    });
  return {
    ...request,
    // A marked text block stays one.
    ...(system.length > 0 && { system: marked(0) as readonly TextBlock[] }),
    messages: messages.map((message, i) =>
      contents[i]?.some((_, at) => placed.has((starts[i + 1] ?? 0) + at)) === true
        ? { ...message, content: marked(i + 1) }
        : message,
    ),
    ...(ofRequest !== undefined && { cache_control: cacheControl(ofRequest) }),
  };
}

/** The index of the first block of each list among all blocks. */
function startsOf(first: number, lists: readonly (readonly Block[])[]): number[] {
  let next = first;
  return lists.map(({ length }) => (next += length) - length);
}

const isCacheable = ({ type, text }: Block): boolean => CACHEABLE.has(type) && text !== "";

const isSaid = ({ role, content }: MessagesRequest["messages"][number]): boolean =>
  role === "user" && blocksOf(content).some(({ type }) => type === "text");

const promptBlock = (block: Block): PromptBlock => ({
  tokens: estimatedTokens(block),
  marked: [block, ...listField(block, "content")].flatMap(ttlsOf),
});

/** A tool of a runner has functions, and may have more that is never sent. */
const toolBlock = (tool: object): PromptBlock => ({
  tokens: estimatedTokens(["name", "description", "input_schema"].map((name) => field(tool, name))),
  marked: ttlsOf(tool),
});

const isRunnable = (tool: object): boolean => typeof field(tool, "run") === "function";

/** A breakpoint of the request itself is at its last block. */
const withMark = (blocks: readonly PromptBlock[], end: number, request: object): PromptBlock[] =>
  blocks.map((block, index) =>
    index === end ? { ...block, marked: [...block.marked, ...ttlsOf(request)] } : block,
  );

function ttlsOf(marked: unknown): CacheTtl[] {
  const control = field(marked, "cache_control");
  if (typeof control !== "object" || control === null) return [];
  return [field(control, "ttl") === "1h" ? "1h" : "5m"];
}

const cacheControl = (ttl: CacheTtl) =>
  ttl === "5m" ? { type: "ephemeral" as const } : { type: "ephemeral" as const, ttl };
