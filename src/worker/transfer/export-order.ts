import { type Failure, wrong } from "../../domain/errors.ts";
import type { ObjectLine } from "../../domain/schema/transfer.ts";

const TWICE = "came before: an export has it once";

/**
 * The order that every export has: all lines of a thread stand together behind the one that it begins with, its messages,
 * and what it hides, by their numbers. What stands otherwise was moved, or came twice in the place of another line.
 */
export class ExportOrder {
  readonly #part: boolean;
  /** The threads whose lines came: what a thread is deleted under is no mistake of the export. 100 bytes each. */
  readonly #threads = new Set<string>();
  #thread: string | null = null;
  #compactions = new Set<string>();
  #last = { message: 0, hidden: 0 };
  #entry: { key: string; version: string } | null = null;

  constructor({ part }: { part: boolean }) {
    this.#part = part;
  }

  /** The thread whose lines stand here, or null where those of all threads are over. */
  get thread(): string | null {
    return this.#thread;
  }

  get threads(): ReadonlySet<string> {
    return this.#threads;
  }

  /** What is in no thread, and in no object, comes next. */
  leaveThreads(): void {
    this.#thread = null;
  }

  /** Takes a line as the next one; a failure if it cannot stand here. */
  take(line: ObjectLine): Failure | null {
    switch (line.type) {
      case "thread":
        if (this.#threads.has(line.id)) return wrong("id", TWICE);
        this.#begin(line.id);
        this.#threads.add(line.id);
        return null;
      case "message":
      case "hidden":
        return this.#ofThread(line.threadId) ?? this.#rises(line);
      case "compaction":
        return this.#ofThread(line.threadId) ?? this.#once(line.id);
      default:
        this.leaveThreads();
        // Only next to each other: all keys of a user do not fit into memory. A value in parts that was replaced meanwhile
        // is told again, in another version.
        if (line.key === this.#entry?.key && line.version === this.#entry.version) return wrong("key", TWICE);
        this.#entry = line;
        return null;
    }
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
      return wrong("threadId", "is not the thread whose lines stand here: each has its own behind it");
    this.#begin(threadId);
    return null;
  }

  #rises({ type, seq }: { type: "message" | "hidden"; seq: number }): Failure | null {
    const last = this.#last[type];
    if (seq === last) return wrong("seq", TWICE);
    if (seq < last) return wrong("seq", `is less than ${last}, which came before`);
    this.#last[type] = seq;
    return null;
  }

  #once(id: string): Failure | null {
    if (this.#compactions.has(id)) return wrong("id", TWICE);
    this.#compactions.add(id);
    return null;
  }
}
