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
import { serialQueue } from "../../storage/serial-queue.ts";
import type { PositionRange } from "../core/position.ts";
import type { VectorName } from "../search-index/vector-rows.ts";
import {
  type Group,
  type OutboxRow,
  resendAfter,
  SETTLE_MS,
  VectorOutboxRows,
} from "./vector-outbox-rows.ts";

export type OutgoingVector = Pick<VectorMetadata, "kind" | "scope"> & { n: number; values: Float32Array };

type OutboxDependencies = {
  sql: SqlStorage;
  /** Null: this deployment has no Vectorize, and the outbox keeps nothing. */
  vectors: VectorIndex | null;
  owner: () => UserHash;
  /** The vectors of these documents; a document without one is left out. */
  read: (model: string, ns: readonly number[]) => readonly OutgoingVector[];
  now: () => number;
};

/** Documents of one group, and the tag of its model. */
type Batch = { ns: readonly number[]; model: ModelTag };

/** Rows that one drain takes: some 15 calls at most, of the 50 subrequests that an alarm has on the free plan. */
const RUN = 300;
/** Rows in one call. */
const SLICE = 100;

/**
 * Mirrors the object's vectors to Vectorize. A change gets a row in the transaction that causes it. The alarm sends it, checks
 * that it reads back, and drops the row when no earlier call can take effect any more: so an upsert in flight never brings a
 * removed vector back. Settled vectors have no row. A crash in a call leaves the row as if the call had failed.
 */
export class VectorOutbox {
  readonly #deps: OutboxDependencies;
  readonly #rows: VectorOutboxRows;
  readonly #inTurn = serialQueue();

  constructor(deps: OutboxDependencies) {
    this.#deps = deps;
    this.#rows = new VectorOutboxRows(deps.sql);
  }

  /** For a document's first vector of the model. */
  put(n: number, model: string): void {
    if (this.#keeps()) this.#rows.putNew(model, n, this.#deps.now());
  }

  /** Sends these vectors, whether they were sent before or not. */
  putAgain(model: string, ns: Iterable<number>): void {
    if (this.#keeps()) this.#rows.putAgain(model, ns, this.#deps.now());
  }

  /** Sends all vectors of a model once: they may be older than the binding. Returns whether it did. */
  adopt(model: string, all: () => Iterable<number>): boolean {
    if (!this.#keeps() || !this.#rows.adopt(model)) return false;
    this.#rows.putAgain(model, all(), this.#deps.now());
    return true;
  }

  /** Deletes vectors that the object no longer has. */
  remove(vectors: Iterable<VectorName>): void {
    if (this.#keeps()) this.#rows.remove(vectors, this.#deps.now());
  }

  /** Deletes vectors of these documents that are still to be sent. */
  removeRange(range: PositionRange): void {
    if (this.#keeps()) this.#rows.removeRange(range, this.#deps.now());
  }

  /** True if Vectorize is known to have these documents' vectors as wanted, for good. */
  isSettled(range: PositionRange): boolean {
    return !this.bound || this.#rows.isSettled(range);
  }

  /** True if the deployment has Vectorize. */
  get bound(): boolean {
    return this.#deps.vectors !== null;
  }

  /** The models whose vectors Vectorize may have of memories. */
  models(): string[] {
    return this.#rows.models();
  }

  /** Documents whose vector a query of Vectorize may miss: memories first, the newest of each first. */
  unconfirmed(model: string): Generator<number> {
    return this.#rows.unconfirmed(model);
  }

  /** Vectors not known to be in Vectorize yet, and not known to be gone from it. */
  pending(): { put: number; remove: number } {
    return this.bound ? this.#rows.pending() : { put: 0, remove: 0 };
  }

  nextDue(): number | null {
    return this.bound ? this.#rows.nextDue() : null;
  }

  /** Sends and checks some due rows. A failed call is retried with back-off; it never rejects. */
  drain(): Promise<void> {
    // One at a time: a delete must be sent after the upsert that is under way.
    return this.#inTurn(() => this.#drain());
  }

  async #drain(): Promise<void> {
    const { vectors, now } = this.#deps;
    if (vectors === null) return;
    this.#rows.sweep(now());
    const due = this.#rows.due(now(), RUN);
    const groups = Map.groupBy(due, ({ model, wanted, state }) => `${state} ${wanted} ${model}`);
    for (const rows of groups.values())
      for (let start = 0; start < rows.length; start += SLICE)
        if (!(await this.#apply(vectors, rows.slice(start, start + SLICE)))) break;
  }

  async #apply(vectors: VectorIndex, rows: readonly OutboxRow[]): Promise<boolean> {
    const [group] = rows;
    if (group === undefined) return true;
    try {
      const model = await modelTag(group.model);
      const ns = rows.map(({ n }) => n);
      if (group.state === "check") await this.#check(vectors, rows, model);
      else if (group.wanted === 1) await this.#upsert(vectors, group, { ns, model });
      else await this.#delete(vectors, group, { ns, model });
      return true;
    } catch (error) {
      const { model, wanted, state } = group;
      console.error({ message: "the vector index failed", model, wanted, state, error: String(error) });
      this.#rows.putOff(group, Math.max(...rows.map(({ attempts }) => attempts)) + 1, this.#deps.now());
      return false;
    }
  }

  async #upsert(vectors: VectorIndex, group: Group, { ns, model }: Batch): Promise<void> {
    const { read, owner, now } = this.#deps;
    const records = new Map<number, VectorRecord>();
    for (const { n, values, ...shown } of read(group.model, ns)) {
      const record = {
        id: vectorId(owner(), n, model),
        namespace: namespaceOf(owner()),
        values,
        metadata: { user: owner(), model: group.model, ...shown },
      };
      const refused = refusal(record);
      if (refused === null) records.set(n, record);
      else console.error({ message: "Vectorize takes no such vector", n, refused });
    }
    const gone = ns.filter((n) => !records.has(n)).map((n) => ({ n, model: group.model }));
    this.#rows.remove(gone, now());
    await this.#send(group, [...records.keys()], (sent) =>
      vectors.upsert(sent.flatMap((n) => records.get(n) ?? [])),
    );
  }

  #delete(vectors: VectorIndex, group: Group, { ns, model }: Batch): Promise<void> {
    const idOf = (n: number) => vectorId(this.#deps.owner(), n, model);
    return this.#send(group, ns, (sent) => vectors.deleteByIds(sent.map(idOf)));
  }

  /** Calls Vectorize for the rows that still want it. */
  async #send(
    group: Group,
    ns: readonly number[],
    call: (sent: readonly number[]) => Promise<void>,
  ): Promise<void> {
    const { now } = this.#deps;
    const sentAt = now();
    const sent = this.#rows.begin(group, ns, sentAt);
    if (sent.length === 0) return;
    await call(sent);
    this.#rows.accepted(group, sent, { sentAt, now: now() });
  }

  async #check(vectors: VectorIndex, rows: readonly OutboxRow[], model: ModelTag): Promise<void> {
    const idOf = ({ n }: OutboxRow) => vectorId(this.#deps.owner(), n, model);
    const there = await vectors.present(rows.map(idOf));
    const now = this.#deps.now();
    for (const row of rows) this.#afterCheck(row, there.has(idOf(row)) === (row.wanted === 1), now);
    this.#rows.sweep(now);
  }

  #afterCheck(row: OutboxRow, asWanted: boolean, now: number): void {
    const { sent_at, settles_at, attempts, resent } = row;
    const sentAt = sent_at ?? now;
    if (asWanted && settles_at > now)
      this.#rows.move(row, { state: "check", attempts: 0, dueAt: settles_at });
    else if (asWanted) this.#rows.move(row, { state: "done", attempts: 0, dueAt: sentAt + SETTLE_MS });
    else if (sentAt + resendAfter(resent) <= now)
      // The call may be lost; repeating it does no harm.
      this.#rows.move(row, { state: "send", attempts: 0, resent: resent + 1, dueAt: now });
    else this.#rows.move(row, { state: "check", attempts: attempts + 1, dueAt: now + backOff(attempts + 1) });
  }

  /** Without Vectorize no rows are kept, and a later binding adopts every model anew. */
  #keeps(): boolean {
    if (!this.bound) this.#rows.disown();
    return this.bound;
  }
}
