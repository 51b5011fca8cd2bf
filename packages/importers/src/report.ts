// Counts and examples of a run.
import type { Remark } from "./source.ts";

const EXAMPLES = 3;
type Counted = { count: number; examples: string[] };

/** Reasons, with their counts and examples. */
export class Reasons {
  readonly #reasons = new Map<string, Counted>();

  add({ reason, example, count = 1 }: Omit<Remark, "type">): void {
    const counted = this.#reasons.get(reason) ?? { count: 0, examples: [] };
    counted.count += count;
    if (counted.examples.length < EXAMPLES && !counted.examples.includes(example))
      counted.examples.push(example);
    this.#reasons.set(reason, counted);
  }

  has(reason: string): boolean {
    return this.#reasons.has(reason);
  }

  get count(): number {
    return [...this.#reasons.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** One line each, under a heading; none without reasons. */
  lines(heading: string): string[] {
    if (this.#reasons.size === 0) return [];
    const lines = Array.from(
      this.#reasons,
      ([reason, { count, examples }]) => `  ${count} × ${reason} (${examples.join("; ")})`,
    );
    return [`${heading}:`, ...lines];
  }
}

/** The contents of an export. */
export class Survey {
  readonly users = new Set<string>();
  readonly skipped = new Reasons();
  readonly changed = new Reasons();
  readonly #kinds = new Map<string, number>();
  #threads = 0;
  #messages = 0;

  memory(user: string, kind = "fact"): void {
    this.users.add(user);
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  thread(user: string, messages: number): void {
    this.users.add(user);
    this.#threads++;
    this.#messages += messages;
  }

  remark(remark: Remark): void {
    (remark.type === "skipped" ? this.skipped : this.changed).add(remark);
  }

  lines(): string[] {
    const memories = [...this.#kinds.values()].reduce((sum, count) => sum + count, 0);
    const kinds = Array.from(this.#kinds, ([kind, count]) => `${count} ${count === 1 ? kind : `${kind}s`}`);
    return [
      `Found for ${counted(this.users.size, "user")}: ${counted(memories, "memory", "memories")}` +
        `${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}, ${counted(this.#threads, "thread")}, ` +
        `${counted(this.#messages, "message")}.`,
      ...this.skipped.lines("Skipped"),
      ...this.changed.lines("Changed"),
    ];
  }
}

/** The results of a run. */
export class Outcome {
  readonly failed = new Reasons();
  readonly memories = { created: 0, changed: 0, "there already": 0, "in quarantine": 0, failed: 0 };
  readonly threads = { created: 0, "there already": 0, failed: 0 };
  readonly messages = { created: 0, "there already": 0, "deleted here": 0, "left out": 0 };
  readonly extractions = { started: 0 };

  lines(): string[] {
    return [
      ...told("Memories", this.memories),
      ...told("Threads", this.threads),
      ...told("Messages", this.messages),
      ...told("Extractions", this.extractions),
      ...this.failed.lines("Not imported"),
    ];
  }
}

const told = (name: string, counts: Record<string, number>): string[] => {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.length === 0
    ? []
    : [`${name}: ${parts.map(([what, count]) => `${count} ${what}`).join(", ")}.`];
};

const counted = (count: number, one: string, more = `${one}s`): string =>
  `${count} ${count === 1 ? one : more}`;
