import type { UserHash } from "../../../src/domain/ids.ts";
import { namespaceOf } from "../../../src/platform/vectors/namespace.ts";
import { type ModelTag, modelTag, vectorId } from "../../../src/platform/vectors/vector-id.ts";
import type {
  VectorIndex,
  VectorMetadata,
  VectorRecord,
} from "../../../src/platform/vectors/vector-index.ts";
import { refusal } from "../../../src/platform/vectors/vectorize-limits.ts";
import { backOff } from "../../storage/back-off.ts";
import type { PositionRange } from "../core/position.ts";
import {
  type Group,
  type OutboxRow,
  resendAfter,
  SETTLE_MS,
  type VectorName,
  VectorOutboxRows,
} from "./vector-outbox-rows.ts";

/** What goes into the vector index of a document. */
export type OutgoingVector = Pick<VectorMetadata, "kind" | "scope"> & { n: number; values: Float32Array };

type Parts = {
  sql: SqlStorage;
  /** Null: this deployment has no large index, and nothing is kept for one. */
  vectors: VectorIndex | null;
  owner: () => UserHash;
  /** The vectors of these documents in this model; what is left out is not there any more. */
  read: (model: string, ns: readonly number[]) => readonly OutgoingVector[];
  now: () => number;
};

/** Rows that one drain takes: some 15 calls at most, of the 50 subrequests that an alarm has on the free plan. */
const RUN = 300;
/** Rows in one call. */
const SLICE = 100;

/**
 * Drives the large vector index to hold what the object holds. A change is noted in the transaction of what it follows
 * from, sent by the alarm, and forgotten when it has read back and nothing older can land on it: an upsert in flight
 * never brings a removed vector back. Only what is not settled has a row, and nothing is kept in memory. Whoever dies
 * in a call leaves the row as if the call had failed.
 */
export class VectorOutbox {
  readonly #parts: Parts;
  readonly #rows: VectorOutboxRows;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rows = new VectorOutboxRows(parts.sql);
  }

  /** Document `n` got its first vector of this model. */
  put(n: number, model: string): void {
    if (this.#bound()) this.#rows.putNew(model, n, this.#parts.now());
  }

  /** These documents' vectors are to be sent once more, whether they were before or not: a reindex. */
  putAgain(model: string, ns: Iterable<number>): void {
    if (this.#bound()) this.#rows.putAgain(model, ns, this.#parts.now());
  }

  /** Puts all vectors of a model once, in case there were some before the index was bound. Answers whether it did. */
  adopt(model: string, all: () => Iterable<number>): boolean {
    if (!this.#bound() || !this.#rows.adopt(model)) return false;
    this.#rows.putAgain(model, all(), this.#parts.now());
    return true;
  }

  /** These vectors are gone from the object: of documents that went, or of a model that another has taken over from. */
  remove(vectors: Iterable<VectorName>): void {
    if (this.#bound()) this.#rows.remove(vectors, this.#parts.now());
  }

  /** Whatever was on its way to the index of these documents is to be gone. */
  removeRange(range: PositionRange): void {
    if (this.#bound()) this.#rows.removeRange(range, this.#parts.now());
  }

  /** Whether the vectors of these documents are known to be as they are wanted, for good. */
  isSettled(range: PositionRange): boolean {
    return this.#parts.vectors === null || this.#rows.isSettled(range);
  }

  /** Whether there is a large index. */
  get bound(): boolean {
    return this.#parts.vectors !== null;
  }

  /** The models whose vectors the index may have of memories. */
  models(): string[] {
    return this.#rows.models();
  }

  /** The documents whose vector of this model a search of the index may miss: memories first, the newest of each first. */
  unconfirmed(model: string): Generator<number> {
    return this.#rows.unconfirmed(model);
  }

  /** How many vectors are not known to be in the index yet, and how many not to be gone from it. */
  pending(): { put: number; remove: number } {
    return this.#parts.vectors === null ? { put: 0, remove: 0 } : this.#rows.pending();
  }

  /** When to drain next, or null if there is nothing to do. */
  nextDue(): number | null {
    return this.#parts.vectors === null ? null : this.#rows.nextDue();
  }

  /** Sends and checks some of what is due. What fails stays due, later and later: no failure of the index rejects. */
  drain(): Promise<void> {
    // One after another: a delete must be sent after the upsert that is under way.
    const drained = this.#turn.then(() => this.#drain());
    this.#turn = drained.catch(() => undefined);
    return drained;
  }

  async #drain(): Promise<void> {
    const { vectors, now } = this.#parts;
    if (vectors === null) return;
    this.#rows.sweep(now());
    const due = this.#rows.due(now(), RUN);
    const groups = Map.groupBy(due, ({ model, wanted, state }) => `${state} ${wanted} ${model}`);
    for (const rows of groups.values())
      for (let start = 0; start < rows.length; start += SLICE)
        if (!(await this.#carryOut(vectors, rows.slice(start, start + SLICE)))) break;
  }

  async #carryOut(vectors: VectorIndex, rows: readonly OutboxRow[]): Promise<boolean> {
    const [group] = rows;
    if (group === undefined) return true;
    try {
      const model = await modelTag(group.model);
      if (group.state === "check") await this.#check(vectors, rows, model);
      else if (group.wanted === 1) await this.#upsert(vectors, group, { rows, model });
      else await this.#delete(vectors, group, { rows, model });
      return true;
    } catch (error) {
      const { model, wanted, state } = group;
      console.error({ message: "the vector index failed", model, wanted, state, error: String(error) });
      this.#rows.putOff(group, Math.max(...rows.map(({ attempts }) => attempts)) + 1, this.#parts.now());
      return false;
    }
  }

  async #upsert(
    vectors: VectorIndex,
    group: Group,
    { rows, model }: { rows: readonly OutboxRow[]; model: ModelTag },
  ): Promise<void> {
    const { read, owner, now } = this.#parts;
    const begun = now();
    const wanted = new Set(rows.map(({ n }) => n));
    const records = new Map<number, VectorRecord>();
    for (const { n, values, ...shown } of read(group.model, [...wanted])) {
      const metadata = { user: owner(), model: group.model, ...shown };
      const record = {
        id: vectorId(owner(), n, model),
        namespace: namespaceOf(owner()),
        values,
        metadata,
      };
      const refused = refusal(record);
      if (refused === null) records.set(n, record);
      else console.error({ message: "the vector index takes no such vector", n, refused });
    }
    this.#rows.remove(
      [...wanted].filter((n) => !records.has(n)).map((n) => ({ n, model: group.model })),
      begun,
    );
    const sent = this.#rows.begin(group, [...records.keys()], begun);
    if (sent.size === 0) return;
    await vectors.upsert([...sent].flatMap((n) => records.get(n) ?? []));
    this.#rows.accepted(group, [...sent], { begun, now: now() });
  }

  async #delete(
    vectors: VectorIndex,
    group: Group,
    { rows, model }: { rows: readonly OutboxRow[]; model: ModelTag },
  ): Promise<void> {
    const { owner, now } = this.#parts;
    const begun = now();
    const sent = this.#rows.begin(
      group,
      rows.map(({ n }) => n),
      begun,
    );
    if (sent.size === 0) return;
    await vectors.deleteByIds(Array.from(sent, (n) => vectorId(owner(), n, model)));
    this.#rows.accepted(group, [...sent], { begun, now: now() });
  }

  async #check(vectors: VectorIndex, rows: readonly OutboxRow[], model: ModelTag): Promise<void> {
    const idOf = ({ n }: OutboxRow) => vectorId(this.#parts.owner(), n, model);
    const there = await vectors.present(rows.map(idOf));
    const now = this.#parts.now();
    for (const row of rows) this.#checked(row, there.has(idOf(row)) === (row.wanted === 1), now);
    this.#rows.sweep(now);
  }

  #checked(row: OutboxRow, asWanted: boolean, now: number): void {
    const { sent_at, settles_at, attempts, resent } = row;
    const sentAt = sent_at ?? now;
    if (asWanted && settles_at > now)
      this.#rows.move(row, { state: "check", attempts: 0, dueAt: settles_at });
    else if (asWanted) this.#rows.move(row, { state: "done", attempts: 0, dueAt: sentAt + SETTLE_MS });
    else if (sentAt + resendAfter(resent) <= now)
      // Repeating a write does no harm, and one that was lost shows in no other way.
      this.#rows.move(row, { state: "send", attempts: 0, resent: resent + 1, dueAt: now });
    else this.#rows.move(row, { state: "check", attempts: attempts + 1, dueAt: now + backOff(attempts + 1) });
  }

  /** Without an index nothing is kept; should one be bound later, `adopt` is to begin anew. */
  #bound(): boolean {
    if (this.#parts.vectors === null) this.#rows.disown();
    return this.#parts.vectors !== null;
  }
}
