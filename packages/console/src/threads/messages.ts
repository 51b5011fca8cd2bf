import type { Cairn, Compaction, StoredMessage } from "edgecairn";

/** Messages of one read. */
export const CHUNK = 200;

export const roleOf = ({ role }: StoredMessage["message"]): string => (typeof role === "string" ? role : "");

/** The text of a message of any SDK, and what it holds besides. */
export function wordsOf(message: StoredMessage["message"]): string {
  const { content, parts } = message as { content?: unknown; parts?: unknown };
  if (typeof content === "string") return content;
  const list = Array.isArray(content) ? content : Array.isArray(parts) ? parts : [];
  const texts = list.map((part: unknown) => {
    const { text, type } = Object(part) as { text?: unknown; type?: unknown };
    return typeof text === "string" ? text : `[${typeof type === "string" ? type : "part"}]`;
  });
  return texts.join("\n");
}

/** The messages of a thread by their seq, loaded in chunks as they are looked at. */
export class Messages {
  readonly #memory: Cairn;
  readonly #thread: string;
  readonly #bySeq = new Map<number, StoredMessage>();
  readonly #chunks = new Map<number, "loading" | "there" | "failed">();
  readonly #changed: () => void;
  error: unknown = null;

  constructor(memory: Cairn, thread: string, changed: () => void) {
    this.#memory = memory;
    this.#thread = thread;
    this.#changed = changed;
  }

  /** `undefined`: not loaded yet. `null`: there is none, it was deleted. */
  at(seq: number): StoredMessage | null | undefined {
    const message = this.#bySeq.get(seq);
    if (message !== undefined) return message;
    return this.#chunks.get(chunkOf(seq)) === "there" ? null : undefined;
  }

  load(first: number, last: number): void {
    for (let chunk = chunkOf(first); chunk <= chunkOf(last); chunk++) void this.#load(chunk);
  }

  forget(seq: number): void {
    this.#bySeq.delete(seq);
    this.#changed();
  }

  retry(): void {
    for (const [chunk, state] of this.#chunks)
      if (state === "failed") {
        this.#chunks.delete(chunk);
        void this.#load(chunk);
      }
  }

  async #load(chunk: number): Promise<void> {
    if (this.#chunks.has(chunk)) return;
    this.#chunks.set(chunk, "loading");
    try {
      const query = { order: "oldest", after: chunk * CHUNK, limit: CHUNK } as const;
      const { items } = await this.#memory.threads.read(this.#thread, query);
      for (const item of items) this.#bySeq.set(item.seq, item);
      this.#chunks.set(chunk, "there");
      this.error = null;
    } catch (error) {
      this.#chunks.set(chunk, "failed");
      this.error = error;
    }
    this.#changed();
  }
}

const chunkOf = (seq: number): number => Math.floor((seq - 1) / CHUNK);

/** The rows of a thread: a seq, or a compaction that stands for its messages while it is folded. */
export type Row = { seq: number } | { compaction: Compaction };

export function rowsOf(
  last: number,
  compactions: readonly Compaction[],
  unfolded: ReadonlySet<string>,
): { length: number; at: (index: number) => Row; indexOf: (seq: number) => number } {
  // Later compactions cover earlier ones that they include.
  const folded = compactions
    .filter(({ id }) => !unfolded.has(id))
    .filter(
      (one, _, all) =>
        !all.some(
          (other) =>
            other !== one &&
            other.from <= one.from &&
            other.to >= one.to &&
            (other.createdAt > one.createdAt || other.to - other.from > one.to - one.from),
        ),
    )
    .toSorted((a, b) => a.from - b.from);
  const hidden = folded.reduce((sum, { from, to }) => sum + (to - from), 0);
  return {
    length: last - hidden,
    at(index) {
      let seq = index + 1;
      for (const compaction of folded) {
        if (seq < compaction.from) break;
        if (seq === compaction.from) return { compaction };
        seq += compaction.to - compaction.from;
      }
      return { seq };
    },
    indexOf(seq) {
      const before = folded.filter(({ to }) => to <= seq).reduce((sum, { from, to }) => sum + (to - from), 0);
      const within = folded.find(({ from, to }) => from <= seq && seq < to);
      return (within?.from ?? seq) - 1 - before;
    },
  };
}
