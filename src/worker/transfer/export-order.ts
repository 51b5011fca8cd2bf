import { type Failure, invalidField } from "../../domain/errors.ts";
import type { ObjectLine } from "../../domain/schema/transfer.ts";

const TWICE = "came before, and an export has it once";

/**
 * Checks the order of an export: the lines of a thread follow its first line, its messages and its hidden messages by seq.
 * Another order means that a line was moved, or came twice.
 */
export class ExportOrder {
  readonly #part: boolean;
  /** The threads that came so far, some 100 bytes each. */
  readonly #threads = new Set<string>();
  #thread: string | null = null;
  #compactions = new Set<string>();
  #last = { message: 0, hidden: 0 };
  #entry: { key: string; version: string } | null = null;

  constructor({ part }: { part: boolean }) {
    this.#part = part;
  }

  /** The thread of the current line; null after the lines of all threads. */
  get thread(): string | null {
    return this.#thread;
  }

  get threads(): ReadonlySet<string> {
    return this.#threads;
  }

  /** Takes the next line, null for one of a memory or the end; a failure if it is out of order. */
  take(line: ObjectLine | null): Failure | null {
    if (line === null) return this.#leaveThreads();
    switch (line.type) {
      case "thread":
        if (this.#threads.has(line.id)) return invalidField("id", TWICE);
        this.#begin(line.id);
        this.#threads.add(line.id);
        return null;
      case "message":
      case "hidden":
        return this.#ofThread(line.threadId) ?? this.#rises(line);
      case "compaction":
        return this.#ofThread(line.threadId) ?? this.#once(line.id);
      default:
        this.#leaveThreads();
        // Compares neighbours only, as all keys of a user do not fit into memory. Another version is no repeat: a value in
        // parts may be replaced while it is exported.
        if (line.key === this.#entry?.key && line.version === this.#entry.version)
          return invalidField("key", TWICE);
        this.#entry = line;
        return null;
    }
  }

  #leaveThreads(): null {
    this.#thread = null;
    return null;
  }

  #begin(thread: string): void {
    this.#thread = thread;
    this.#compactions = new Set();
    this.#last = { message: 0, hidden: 0 };
  }

  /** A part may begin in a thread. */
  #ofThread(threadId: string): Failure | null {
    if (this.#thread === threadId) return null;
    if (!this.#part || this.#threads.size > 0 || this.#thread !== null)
      return invalidField("threadId", "is not the current thread: the lines of a thread stand together");
    this.#begin(threadId);
    return null;
  }

  #rises({ type, seq }: { type: "message" | "hidden"; seq: number }): Failure | null {
    const last = this.#last[type];
    if (seq === last) return invalidField("seq", TWICE);
    if (seq < last) return invalidField("seq", `is less than ${last}, which came before`);
    this.#last[type] = seq;
    return null;
  }

  #once(id: string): Failure | null {
    if (this.#compactions.has(id)) return invalidField("id", TWICE);
    this.#compactions.add(id);
    return null;
  }
}
