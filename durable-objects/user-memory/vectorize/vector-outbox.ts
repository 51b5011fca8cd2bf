import type { UserHash } from "../../../src/domain/ids.ts";
import { namespaceOf } from "../../../src/platform/vectors/namespace.ts";
import { type ModelTag, modelTag, vectorId } from "../../../src/platform/vectors/vector-id.ts";
import type {
  VectorIndex,
  VectorMetadata,
  VectorRecord,
} from "../../../src/platform/vectors/vector-index.ts";
import { refusal } from "../../../src/platform/vectors/vectorize.ts";
import { backOff } from "../../storage/back-off.ts";
import { serialQueue } from "../../storage/serial-queue.ts";
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
export class VectorOutbox extends VectorOutboxRows {
  readonly #deps: OutboxDependencies;
  readonly #inTurn = serialQueue();

  constructor(deps: OutboxDependencies) {
    super({ ...deps, bound: deps.vectors !== null });
    this.#deps = deps;
  }

  /** Sends and checks some due rows. A failed call is retried with back-off; it never rejects. */
  drain(): Promise<void> {
    // One at a time: a delete must be sent after the upsert that is under way.
    return this.#inTurn(() => this.#drain());
  }

  async #drain(): Promise<void> {
    const { vectors } = this.#deps;
    if (vectors === null) return;
    this.sweep();
    const groups = Map.groupBy(this.due(RUN), ({ model, wanted, state }) => `${state} ${wanted} ${model}`);
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
      this.putOff(group, Math.max(...rows.map(({ attempts }) => attempts)) + 1);
      return false;
    }
  }

  async #upsert(vectors: VectorIndex, group: Group, { ns, model }: Batch): Promise<void> {
    const { read, owner } = this.#deps;
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
    this.remove(ns.filter((n) => !records.has(n)).map((n) => ({ n, model: group.model })));
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
    const sentAt = this.now();
    const sent = this.begin(group, ns, sentAt);
    if (sent.length === 0) return;
    await call(sent);
    this.accepted(group, sent, sentAt);
  }

  async #check(vectors: VectorIndex, rows: readonly OutboxRow[], model: ModelTag): Promise<void> {
    const idOf = ({ n }: OutboxRow) => vectorId(this.#deps.owner(), n, model);
    const present = await vectors.present(rows.map(idOf));
    const now = this.now();
    for (const row of rows) this.#afterCheck(row, present.has(idOf(row)) === (row.wanted === 1), now);
    this.sweep();
  }

  #afterCheck(row: OutboxRow, asWanted: boolean, now: number): void {
    const { sent_at, settles_at, attempts, resent } = row;
    const sentAt = sent_at ?? now;
    if (asWanted && settles_at > now) this.move(row, { state: "check", attempts: 0, dueAt: settles_at });
    else if (asWanted) this.move(row, { state: "done", attempts: 0, dueAt: sentAt + SETTLE_MS });
    else if (sentAt + resendAfter(resent) <= now)
      // The call may be lost; repeating it does no harm.
      this.move(row, { state: "send", attempts: 0, resent: resent + 1, dueAt: now });
    else this.move(row, { state: "check", attempts: attempts + 1, dueAt: now + backOff(attempts + 1) });
  }
}
