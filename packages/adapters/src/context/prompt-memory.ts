import { messageHash, userText } from "../../../../src/domain/context/message-hash.ts";
import { withBlock } from "../../../../src/domain/context/prompted-message.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { ContextAnswer, ContextBody } from "../../../client/src/shapes.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import type { ContextThread } from "./named-thread.ts";

/** Options of a context that a prompt does not give. */
export type ContextOptions = Pick<
  ContextBody,
  | "scope"
  | "owners"
  | "budget"
  | "layers"
  | "profile"
  | "sources"
  | "tokenizer"
  | "provider"
  | "cacheTtl"
  | "answerable"
  | "referenceDate"
  | "timeZone"
> & {
  /** The format of the blocks; `xml` unless set. */
  format?: "xml" | "markdown" | "json";
};

export const CONTEXT_OPTIONS: OptionNames<ContextOptions> = {
  scope: true,
  owners: true,
  budget: true,
  layers: true,
  profile: true,
  sources: true,
  tokenizer: true,
  provider: true,
  cacheTtl: true,
  answerable: true,
  referenceDate: true,
  timeZone: true,
  format: true,
};

/** The memory of a prompt: a stable block for its beginning, and blocks for messages, by their index. */
export type PromptMemory = { stable: string; blocks: ReadonlyMap<number, string> };

/** With the id of the thread if an agent named it, and its last messages if they were asked for. */
export type ReadMemory = PromptMemory & { threadId?: string | undefined; history: HistoryMessage[] };

export type HistoryMessage = NonNullable<ContextAnswer["history"]>[number];

export const NO_MEMORY: ReadMemory = { stable: "", blocks: new Map(), history: [] };

/** A message of a prompt, in any SDK's shape. */
export type PromptMessage = { role: string; content?: unknown };

type Reader = {
  memory: Pick<Cairn, "context">;
  user: string;
  /** The thread that keeps the blocks; without one, only the last message has a block. */
  thread: ContextThread | undefined;
  context: ContextOptions | undefined;
  /** Asks for so many of the thread's last messages; the prompt's are behind them. */
  history?: number | undefined;
};

/** The most hashes of a call, and the longest query in bytes of UTF-8. */
const MESSAGES = 1_000;
const QUERY_BYTES = 256 * 1024;

/** Reads the memory of a prompt: the block of the user's last message that has text, and those of the earlier ones. */
export async function promptMemory(
  { memory, user, thread, context, history: asked }: Reader,
  messages: readonly PromptMessage[],
  options: CallOptions,
): Promise<ReadMemory> {
  const said = messages
    .map((message, index) => ({ index, text: message.role === "user" ? userText(message).trim() : "" }))
    .filter(({ text }) => text !== "")
    .slice(-MESSAGES);
  const last = said.at(-1);
  const hashes = thread === undefined ? [] : await Promise.all(said.map(({ text }) => messageHash(text)));
  const {
    stable,
    recalled,
    pinned = [],
    threadId,
    history = [],
  } = await memory.context(
    user,
    {
      ...context,
      ...(last && { query: truncateUtf8(last.text, QUERY_BYTES) }),
      ...thread,
      ...(asked !== undefined && { history: asked }),
      ...(hashes.length > 0 && { messages: hashes }),
    },
    options,
  );
  const blocks = new Map<number, string>();
  for (const { index, text } of pinned) {
    const at = said[index]?.index;
    if (at !== undefined) blocks.set(at, text);
  }
  if (last !== undefined && recalled.text !== "") blocks.set(last.index, recalled.text);
  return { stable: stable.text, blocks, threadId, history };
}

/** The messages with their blocks; a block becomes a message's first text. */
export const withBlocks = <M extends PromptMessage>(messages: readonly M[], { blocks }: PromptMemory): M[] =>
  messages.map((message, index) => {
    const block = blocks.get(index);
    return block === undefined ? message : withBlock(message, block);
  });
