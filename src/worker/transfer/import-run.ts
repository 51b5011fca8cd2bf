import { type Failure, ok, type Result, invalidField } from "../../domain/errors.ts";
import type { UserHash } from "../../domain/ids.ts";
import { byteLength, limits } from "../../domain/limits.ts";
import type { Owner } from "../../domain/memory/record.ts";
import type { Trust } from "../../domain/schema/provenance.ts";
import type { ImportAnswer, MemoryLine, ObjectLine } from "../../domain/schema/transfer.ts";
import { OUTCOMES } from "../../domain/transfer/format.ts";
import type { Services } from "../services.ts";
import { retryOnReset } from "../../platform/retry-on-reset.ts";
import { ExportOrder } from "./export-order.ts";
import { type ImportedVersion, versionsOf } from "../../domain/transfer/memory-lines.ts";
import type { ParsedLine } from "./parse-line.ts";
import type { Imported, ImportItem, ObjectItem } from "../../contract/user-memory.ts";

type ImportRunDependencies = Pick<Services, "userMemory" | "now"> & {
  owner: Owner;
  from: UserHash;
  /** The caller's trust: no imported memory exceeds it, and only a person's messages are marked. */
  trust: Trust;
  /** The owner's erasure epoch when the import began. */
  epoch: number;
  /** The body is a part of an export, whose last line counts the earlier lines too. */
  part: boolean;
};
/** The first line that could not be imported. */
type Failed = { n: number; failure: Failure };
/** The lines of one memory so far, and the number of the first. */
type MemoryLines = { n: number; lines: MemoryLine[]; bytes: number };

/** The size of one call of the object, exceeded by at most one line or memory. RPC moves 32 MiB. */
const CALL_LINES = 250;
const CALL_BYTES = 2 * 1024 * 1024;
/**
 * The pause before each call, which lets other requests run. Without it, an import may never wait: its body and its
 * object can be in the same process.
 */
const YIELD_MS = 1;
/** The tolerance for the clock of the exporting Cairn. */
const CLOCKS_MS = 5 * 60_000;

const HOLE = "a line before this one is missing. Export again";
const SURPLUS = "a line came twice, or belongs to another export. Export again";
const CUT_OFF = invalidField(
  "",
  "is missing: an export ends with a line of the type `end`. Send the whole file again: the lines so far are imported",
);

/** A running import: collects lines into calls of the user's object, all versions of a memory in one call. */
export class ImportRun {
  readonly answer: ImportAnswer = {
    lines: 1,
    complete: false,
    imported: {},
    there: {},
    expired: {},
    leftOut: {},
  };
  readonly #deps: ImportRunDependencies;
  readonly #order: ExportOrder;
  /** Items and memories of the next call, each with the number of its first line. */
  #items: { n: number; item: ImportItem }[] = [];
  #memories: { n: number; versions: ImportedVersion[] }[] = [];
  #bytes = 0;
  /** The current memory. */
  #memory: MemoryLines | null = null;
  /** The last line. */
  #n = 1;

  constructor(deps: ImportRunDependencies) {
    this.#deps = deps;
    const { owner, from, part } = deps;
    this.#order = new ExportOrder({ part });
    if (from !== owner.hash) this.answer.threadIds = { from, to: owner.hash };
  }

  /**
   * Takes the next line, and sends the collected lines when they fill a call, or when the line is wrong: those before it are
   * imported. Returns the first line that failed; the import then ends.
   */
  async take(n: number, parsed: Result<ParsedLine>): Promise<Failed | null> {
    this.#n = n;
    const failure = parsed.ok ? await this.#collect(n, parsed.value) : parsed;
    if (failure !== null) return (await this.#flush()) ?? { n, failure };
    this.answer.lines++;
    if (this.#items.length < CALL_LINES && this.#bytes < CALL_BYTES && this.#memories.length < CALL_LINES)
      return null;
    return this.#send();
  }

  /** Ends the import. Threads of a whole export end only here, once it is complete; those of a part end one by one. */
  async end(): Promise<Failed | null> {
    const failed = await this.#flush();
    if (failed !== null || this.#deps.part) return failed;
    if (!this.answer.complete) return { n: this.#n + 1, failure: CUT_OFF };
    for (const threadId of this.#order.threads) {
      this.#items.push({ n: this.#n, item: { line: { type: "threadEnd", threadId } } });
      if (this.#items.length < CALL_LINES) continue;
      const unsent = await this.#send();
      if (unsent !== null) return unsent;
    }
    return this.#send();
  }

  async #flush(): Promise<Failed | null> {
    await this.#endMemory();
    return this.#send();
  }

  async #collect(n: number, parsed: ParsedLine): Promise<Failure | null> {
    if (this.answer.complete) return invalidField("type", "comes after the last line of an export");
    if ("memory" in parsed) return this.#collectMemory(n, parsed.memory);
    await this.#endMemory();
    return "end" in parsed ? this.#complete(n, parsed.end) : this.#collectItem(n, parsed.item);
  }

  #complete(n: number, counted: number): Failure | null {
    const lines = this.answer.lines + 1;
    if (this.#deps.part ? counted < lines : counted !== lines)
      return invalidField(
        "lines",
        `is ${counted}, but ${lines} lines came: ${counted > lines ? HOLE : SURPLUS}`,
      );
    this.answer.complete = true;
    return this.#follow(n, null);
  }

  #collectItem(n: number, item: ObjectItem): Failure | null {
    const mapped = withThreadsOf(this.#deps.owner.hash, this.#deps.from, item);
    if (!mapped.ok) return mapped;
    const { line } = mapped.value;
    const of =
      line.type === "thread" ? line.parent?.threadId : "threadId" in line ? line.threadId : undefined;
    const threadIsInImport = of !== undefined && this.#order.threads.has(of);
    const misplaced = this.#follow(n, line);
    if (misplaced !== null) return misplaced;
    this.#items.push({ n, item: threadIsInImport ? { ...mapped.value, threadIsInImport } : mapped.value });
    this.#bytes += 200 + ("value" in mapped.value ? (mapped.value.value?.byteLength ?? 0) : 0);
    return null;
  }

  /** Checks the order. Ends the thread of a part when a line of another thread, or of none, follows. */
  #follow(n: number, line: ObjectLine | null): Failure | null {
    const threadId = this.#order.thread;
    const misplaced = this.#order.take(line);
    if (this.#deps.part && threadId !== null && threadId !== this.#order.thread)
      this.#items.push({ n, item: { line: { type: "threadEnd", threadId } } });
    return misplaced;
  }

  async #collectMemory(n: number, line: MemoryLine): Promise<Failure | null> {
    this.#follow(n, null);
    if (line.recordedAt > this.#deps.now() + CLOCKS_MS) return invalidField("recordedAt", "is in the future");
    if (this.#memory?.lines[0]?.id !== line.id) await this.#endMemory();
    const memory = (this.#memory ??= { n, lines: [], bytes: 0 });
    const next = memory.lines.length + 1;
    if (line.version !== next)
      return invalidField("version", `is not ${next}: the versions of a memory stand together`);
    memory.lines.push(line);
    memory.bytes += byteLength(JSON.stringify(line));
    return memory.bytes <= limits.exportedMemory
      ? null
      : invalidField("id", `begins in line ${memory.n}, and has more than 16 MiB of history`);
  }

  async #endMemory(): Promise<void> {
    if (this.#memory === null) return;
    const { n, lines, bytes } = this.#memory;
    const { from, owner, trust } = this.#deps;
    if (lines.length > 0)
      this.#memories.push({ n, versions: await versionsOf(lines, { from, to: owner.hash, trust }) });
    this.#bytes += bytes;
    this.#memory = null;
  }

  async #send(): Promise<Failed | null> {
    const [items, memories] = [this.#items, this.#memories];
    [this.#items, this.#memories, this.#bytes] = [[], [], 0];
    if (items.length === 0 && memories.length === 0) return null;
    await scheduler.wait(YIELD_MS);
    const { userMemory, owner, epoch, trust } = this.#deps;
    const failed = await this.#call(items, () =>
      userMemory(owner.hash).importItems(owner, { epoch, trust, items: items.map(({ item }) => item) }),
    );
    // The lines before the one that failed are imported.
    const before = failed === null ? memories : memories.filter(({ n }) => n < failed.n);
    const histories = before.map(({ versions }) => versions);
    const failedMemory = await this.#call(before, () =>
      userMemory(owner.hash).importMemories(owner, { epoch, memories: histories }),
    );
    return failedMemory ?? failed;
  }

  /** Makes a call of the object, and counts its outcomes. Returns the first line that failed. */
  async #call(
    lines: readonly { n: number }[],
    call: () => Promise<Result<Imported>>,
  ): Promise<Failed | null> {
    if (lines.length === 0) return null;
    const imported = await retryOnReset(call);
    if (!imported.ok) return { n: lines[0]?.n ?? 0, failure: imported };
    const { counts, failed } = imported.value;
    for (const outcome of OUTCOMES)
      for (const [what, count] of Object.entries(counts[outcome])) {
        const tally = this.answer[outcome];
        // The names are the fields of a tally.
        const field = what as keyof typeof tally;
        if (count > 0) tally[field] = (tally[field] ?? 0) + count;
      }
    return failed === undefined ? null : { n: lines[failed.index]?.n ?? 0, failure: failed.failure };
  }
}

/** The item with its thread ids under another owner; a failure if one does not belong to the exported user. */
function withThreadsOf(to: UserHash, from: UserHash, item: ObjectItem): Result<ObjectItem> {
  const { line } = item;
  const moved = (id: string) => `${to}${id.slice(from.length)}`;
  const isForeign = (id: string | undefined) => id !== undefined && !id.startsWith(`${from}.`);
  if (line.type === "entry") return ok(item);
  if (line.type !== "thread") {
    if (isForeign(line.threadId)) return foreign("threadId");
    return ok({ ...item, line: { ...line, threadId: moved(line.threadId) } });
  }
  const { id, parent, forkedFrom } = line;
  if (isForeign(id)) return foreign("id");
  if (isForeign(parent?.threadId)) return foreign("parent.threadId");
  if (isForeign(forkedFrom)) return foreign("forkedFrom");
  const thread = {
    ...line,
    id: moved(id),
    ...(parent && { parent: { ...parent, threadId: moved(parent.threadId) } }),
    ...(forkedFrom !== undefined && { forkedFrom: moved(forkedFrom) }),
  };
  return ok({ ...item, line: thread });
}

const foreign = (path: string) => invalidField(path, "is not a thread of the user in the first line");
