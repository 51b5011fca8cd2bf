import type { Cairn } from "../../../client/src/cairn.ts";
import { BoundedCache } from "../../../../src/domain/bounded-cache.ts";
import { type ContextThread, NamedThread } from "../context/named-thread.ts";
import { type ContextOptions, type PromptMessage, promptMemory } from "../context/prompt-memory.ts";
import type { ExecutionContext, Item } from "./interfaces.ts";
import { messageIn } from "./turns.ts";

/** The memory of a run's prompts: the block before the history, and the blocks of its items, by their names. */
export type RunMemory = { first: string; blocks: ReadonlyMap<string, string> };

type Reader = { memory: Pick<Cairn, "context" | "threads">; user: string; context: ContextOptions };
type Asked = { query: string; items: readonly Item[]; ctx: ExecutionContext; signal: AbortSignal };

/** Runs and threads that are remembered. */
const KEPT = 256;
/** The prefix of the agents of threads that keep the blocks of Noetic's threads. */
const AGENT = "noetic/";

/** Reads the memory of runs. A thread of Cairn for each thread of Noetic keeps the blocks. */
export class RunMemories {
  readonly #runs = new BoundedCache<RunMemory>(KEPT);
  readonly #threads = new BoundedCache<NamedThread>(KEPT);

  /** The memory that was read last for a run. */
  of({ executionId }: ExecutionContext): RunMemory | undefined {
    return this.#runs.get(executionId);
  }

  /** Reads the memory of a prompt with these items; `query` is the user's message if they have none. */
  async read(reader: Reader, { query, items, ctx, signal }: Asked): Promise<RunMemory> {
    const said = items.map(promptMessageOf);
    const isAsked = query.trim() !== "" && said.every(({ role }) => role !== "user");
    const prompt = isAsked ? [...said, { role: "user", content: query }] : said;
    const read = (thread: ContextThread | undefined) =>
      promptMemory({ ...reader, thread }, prompt, { signal });
    const { stable, blocks } =
      ctx.threadId === ""
        ? await read(undefined)
        : await this.#threadOf(reader, ctx.threadId).useInContext(read);
    const memory: RunMemory = {
      first: [stable, blocks.get(items.length) ?? ""].filter((text) => text !== "").join("\n"),
      blocks: new Map(
        namesOf(items).flatMap((name, i) => (blocks.has(i) ? [[name, blocks.get(i) ?? ""]] : [])),
      ),
    };
    this.#runs.set(ctx.executionId, memory);
    return memory;
  }

  #threadOf({ memory, user }: Reader, threadId: string): NamedThread {
    const name = JSON.stringify([user, threadId]);
    const thread =
      this.#threads.get(name) ?? new NamedThread({ memory, user }, { agent: `${AGENT}${threadId}` });
    this.#threads.set(name, thread);
    return thread;
  }
}

/** The items of a history, each message of the user with its block as its first text. */
export function withBlocks<I extends Item>(items: readonly I[], { blocks }: RunMemory): readonly I[] {
  const names = namesOf(items);
  return items.map((item, i) => {
    const block = blocks.get(names[i] ?? "");
    if (block === undefined) return item;
    const content: readonly unknown[] = "content" in item && Array.isArray(item.content) ? item.content : [];
    return { ...item, content: [{ type: "input_text", text: block }, ...content] };
  });
}

/**
 * The items' names: their ids, else their texts, and which of the messages with this text from the end it is. Another layer may have
 * copied the items, or left out the first ones.
 */
function namesOf(items: readonly Item[]): string[] {
  const times = new Map<string, number>();
  return items
    .map((item) => ("id" in item && typeof item.id === "string" ? `#${item.id}` : nameOf(item)))
    .toReversed()
    .map((name) => {
      const time = times.get(name) ?? 0;
      times.set(name, time + 1);
      return name.startsWith("#") ? name : `${time} ${name}`;
    })
    .toReversed();
}

function nameOf(item: Item): string {
  const said = messageIn(item);
  return said === null ? item.type : `${said.role} ${said.text}`;
}

function promptMessageOf(item: Item): PromptMessage {
  const said = messageIn(item);
  return said === null ? { role: item.type } : { role: said.role, content: said.text };
}
