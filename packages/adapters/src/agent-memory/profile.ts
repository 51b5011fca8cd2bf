import type { Cairn } from "../../../client/src/cairn.ts";
import type { Hit, Memory, MemoryKind } from "../../../client/src/shapes.ts";
import { isOfAnother } from "../threads/owner-of.ts";
import { Sessions } from "./sessions.ts";
import type {
  AgentMemoryProfile,
  ConversationMessage,
  IncomingMemory,
  ListOptions,
  ListResult,
  MemoryType,
  RecallOptions,
  RecallResult,
  SessionOptions,
  StoredMemory,
} from "./types.ts";

/** Writes the answer of a recall, by a model of the caller's. */
export type Synthesize = (
  query: string,
  candidates: readonly { id: string; text: string; score: number }[],
  options: { responseLength: "short" | "medium" | "long" },
) => Promise<string>;

const TYPES: Readonly<Record<MemoryKind, MemoryType>> = {
  fact: "fact",
  episode: "event",
  procedure: "instruction",
  reflection: "fact",
};
const KINDS: Readonly<Record<MemoryType, readonly MemoryKind[]>> = {
  fact: ["fact", "reflection"],
  event: ["episode"],
  instruction: ["procedure"],
  task: [],
};
const BY = { adapter: "agent-memory" } as const;
const CANDIDATES = { low: 10, medium: 25, high: 50 } as const;
const LINES = { short: 3, medium: 8, long: 20 } as const;
const [PAGE, MOST] = [20, 500];
/** Messages of one ingest. */
const INGESTED = 1_000;
/** Characters of a summary. */
const SUMMARY = 200;
/** Memories of each kind in the summary of a profile. */
const LISTED = 50;
const HEADINGS: readonly (readonly [string, readonly MemoryKind[]])[] = [
  ["Facts", KINDS.fact],
  ["Instructions", KINDS.instruction],
  ["Events", KINDS.event],
];

/** A profile of Agent Memory over one user, as `agentMemory` gives it. Calls reject with `CairnError`. */
export class CairnProfile implements AgentMemoryProfile {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #synthesize: Synthesize | undefined;
  readonly #sessions: Sessions;

  constructor({
    memory,
    user,
    synthesize,
  }: {
    memory: Cairn;
    user: string;
    synthesize?: Synthesize | undefined;
  }) {
    this.#memory = memory;
    this.#user = user;
    this.#synthesize = synthesize;
    this.#sessions = new Sessions(memory, user);
  }

  async get(memoryId: string): Promise<StoredMemory> {
    const message = messageOf(memoryId);
    if (message !== null && !(await isOfAnother(this.#user, message.threadId)))
      return this.#message(memoryId, message);
    const memory = await this.#memory.memories.get(this.#user, memoryId);
    if (memory === null) throw new Error(`there is no memory ${memoryId}`);
    return this.#stored(memory);
  }

  /** Deletes the memory and the messages that it was extracted from. */
  async delete(memoryId: string): Promise<StoredMemory> {
    const stored = await this.get(memoryId);
    const message = messageOf(memoryId);
    if (message !== null) {
      await this.#memory.threads.deleteMessage(message.threadId, message.seq);
      return stored;
    }
    const memory = await this.#memory.memories.get(this.#user, memoryId);
    // The messages first: if the call fails, it can be repeated.
    for (const source of [memory?.source, ...(memory?.sources ?? [])]) {
      const { thread, message: seq } = source ?? {};
      // A writer may name any thread as the source.
      if (thread !== undefined && typeof seq === "number" && !(await isOfAnother(this.#user, thread)))
        await this.#memory.threads.deleteMessage(thread, seq);
    }
    await this.#memory.memories.forget(this.#user, memoryId);
    return stored;
  }

  async remember({ content, sessionId, ...others }: IncomingMemory): Promise<StoredMemory> {
    refuseOthers("remember", others);
    const memory = await this.#memory.memories.remember(
      this.#user,
      {
        text: content,
        ...(sessionId != null && { source: { thread: await this.#sessions.threadOf(sessionId) } }),
      },
      BY,
    );
    return { ...(await this.#stored(memory)), sessionId: sessionId ?? null };
  }

  /** Resolves once the messages are stored. The extraction runs in the background. Rejects if there is no message. */
  async ingest(
    messages: Iterable<ConversationMessage>,
    { sessionId, ...others }: SessionOptions = {},
  ): Promise<void> {
    refuseOthers("ingest", others);
    const all = [...messages];
    // The server refuses an empty list.
    for (let i = 0; i === 0 || i < all.length; i += INGESTED) {
      const some = all.slice(i, i + INGESTED);
      const times = some.map(({ timestamp }) => timestamp?.getTime());
      const { threadId } = await this.#memory.ingest(
        this.#user,
        {
          messages: some.map(({ timestamp: _timestamp, ...message }) => message),
          ...(sessionId != null && { sessionId }),
          ...(times.some((time) => time !== undefined) && { createdAt: filled(times) }),
        },
        BY,
      );
      if (sessionId != null) await this.#sessions.add(threadId, sessionId);
    }
  }

  /** Lists what is stored, in Markdown: nothing writes a summary. */
  async getSummary({ sessionId, ...others }: SessionOptions = {}): Promise<{ summary: string }> {
    refuseOthers("getSummary", others);
    const threads = sessionId == null ? [undefined] : await this.#sessions.threadsOf(sessionId);
    const parts: string[] = [];
    for (const [heading, kinds] of HEADINGS) {
      const lines: string[] = [];
      for (const sourceThread of threads) {
        const { items } = await this.#memory.memories.list(this.#user, {
          kind: [...kinds],
          limit: LISTED,
          order: "desc",
          ...(sourceThread !== undefined && { sourceThread }),
        });
        lines.push(...items.map((memory) => `- ${lineOf(memory)}`));
      }
      if (lines.length > 0) parts.push([`## ${heading}`, "", ...lines.slice(0, LISTED)].join("\n"));
    }
    return { summary: parts.join("\n\n") };
  }

  async recall(query: string, options: RecallOptions = {}): Promise<RecallResult> {
    const { thinkingLevel = "low", responseLength = "medium", referenceDate, ...others } = options;
    refuseOthers("recall", others);
    const { hits } = await this.#memory.recall(this.#user, {
      query,
      k: optionOf("thinkingLevel", CANDIDATES, thinkingLevel),
      ...(referenceDate !== undefined && { referenceDate: timeOf(referenceDate) }),
    });
    const lines = optionOf("responseLength", LINES, responseLength);
    const candidates = await Promise.all(
      hits.map(async (hit) => ({
        id: hit.id,
        summary: summaryOf(hit.text),
        sessionId: await this.#sessions.of(threadOf(hit)),
        score: hit.score,
      })),
    );
    const answer =
      this.#synthesize === undefined
        ? hits
            .slice(0, lines)
            .map((hit) => `- ${lineOf(hit)}`)
            .join("\n")
        : await this.#synthesize(
            query,
            hits.map(({ id, text, score }) => ({ id, text, score })),
            { responseLength },
          );
    return { count: hits.length, answer, candidates };
  }

  async list({ limit = PAGE, cursor, sessionId, type, ...others }: ListOptions = {}): Promise<ListResult> {
    refuseOthers("list", others);
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
      throw new TypeError(`list: \`limit\` must be a whole number from 1 to ${MOST}`);
    if (type !== undefined && !Object.hasOwn(KINDS, type)) throw new TypeError("list: `type` is unknown");
    const kinds = type === undefined ? undefined : KINDS[type];
    const threads = sessionId === undefined ? [undefined] : await this.#sessions.threadsOf(sessionId);
    // A session's threads one after another: the cursor names the thread and the place in its list.
    const [, at = "0", within = ""] = /^(\d+)\.(.*)$/.exec(cursor ?? "0.") ?? [];
    const place = Number(at);
    if (kinds?.length === 0 || place >= threads.length) return { memories: [] };
    const sourceThread = threads[place];
    const page = await this.#memory.memories.list(this.#user, {
      limit,
      ...(within !== "" && { cursor: within }),
      ...(kinds && { kind: [...kinds] }),
      ...(sourceThread !== undefined && { sourceThread }),
    });
    const memories = await Promise.all(
      page.items.map(async (memory) => {
        const { content: _content, ...entry } = await this.#stored(memory);
        return entry;
      }),
    );
    const next =
      page.cursor !== undefined
        ? `${place}.${page.cursor}`
        : place + 1 < threads.length
          ? `${place + 1}.`
          : undefined;
    return { memories, ...(next !== undefined && { cursor: next }) };
  }

  /** Deletes the session's memories, and then its threads with their messages. */
  async deleteSession(sessionId: string): Promise<void> {
    for (const sourceThread of await this.#sessions.threadsOf(sessionId)) {
      await this.#memory.memories.forgetWhere(this.#user, {
        sourceThread,
        status: ["active", "quarantined", "expired"],
      });
      await this.#memory.threads.delete(sourceThread);
    }
  }

  async #stored(memory: Memory): Promise<StoredMemory> {
    const { id, kind, text, source, createdAt, updatedAt } = memory;
    return {
      id,
      type: TYPES[kind],
      summary: summaryOf(lineOf(memory)),
      content: text,
      sessionId: await this.#sessions.of(source?.thread),
      createdAt: new Date(createdAt),
      updatedAt: new Date(updatedAt),
    };
  }

  /** A recalled message: a thing that was said. */
  async #message(id: string, { threadId, seq }: { threadId: string; seq: number }): Promise<StoredMemory> {
    const { items } = await this.#memory.threads.read(threadId, {
      after: seq - 1,
      limit: 1,
      order: "oldest",
    });
    const [item] = items;
    if (item === undefined || item.seq !== seq) throw new Error(`there is no memory ${id}`);
    const { content } = item.message as { content?: unknown };
    const text = typeof content === "string" ? content : JSON.stringify(item.message);
    const at = new Date(item.createdAt);
    const sessionId = await this.#sessions.of(threadId);
    return {
      id,
      type: "event",
      summary: summaryOf(text),
      content: text,
      sessionId,
      createdAt: at,
      updatedAt: at,
    };
  }
}

/** The thread and seq of a message's id; null for a memory's. */
function messageOf(id: string): { threadId: string; seq: number } | null {
  const [, threadId, seq] = /^(.+):(\d+)$/.exec(id) ?? [];
  return threadId === undefined ? null : { threadId, seq: Number(seq) };
}

const threadOf = (hit: Hit): string | undefined => messageOf(hit.id)?.threadId ?? hit.source?.thread;

/** A procedure is named by its title. */
const lineOf = ({ title, text }: { title?: string | undefined; text: string }): string =>
  (title === undefined ? text : `${title}: ${text}`).replaceAll(/\s+/g, " ").trim();

const summaryOf = (text: string): string =>
  text.length <= SUMMARY
    ? text
    : `${text
        .slice(0, SUMMARY - 1)
        .toWellFormed()
        .trimEnd()}…`;

/** A message without a time has that of the one before it, or of the next. */
function filled(times: readonly (number | undefined)[]): number[] {
  let last = times.find((time) => time !== undefined) ?? 0;
  return times.map((time) => (last = time ?? last));
}

function timeOf(date: Date | string): number {
  const time = typeof date === "string" ? Date.parse(date) : date.getTime();
  if (Number.isNaN(time)) throw new TypeError("recall: `referenceDate` is no date");
  return time;
}

function optionOf<T extends string>(name: string, values: Readonly<Record<T, number>>, given: T): number {
  if (!Object.hasOwn(values, given))
    throw new TypeError(`recall: \`${name}\` must be one of ${Object.keys(values).join(", ")}`);
  return values[given];
}

function refuseOthers(method: string, others: object): void {
  const [name] = Object.keys(others);
  if (name !== undefined) throw new TypeError(`${method}: \`${name}\` is no option`);
}
