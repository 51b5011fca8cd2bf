// A VectorOutbox over the storage of a real object and the double of Vectorize, by the tests' clock.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { VectorOutbox } from "../../../../durable-objects/user-memory/vectorize/vector-outbox.ts";
import { vectorOutboxSchema } from "../../../../durable-objects/user-memory/schema.ts";
import { modelTag, vectorId } from "../../../../src/platform/vectors/vector-id.ts";
import type { VectorIndex } from "../../../../src/platform/vectors/vector-index.ts";
import { VectorizeIndex } from "../../../../src/platform/vectors/vectorize.ts";
import { clock, control } from "../../../doubles/control.ts";
import { VectorizeDouble } from "../../../doubles/vectorize.ts";

export const user = "A".repeat(22);
export const MODEL = "model";
/** The document whose vector no index takes. */
export const SPOILT = 666;

/** The remains of an object that dies in its next call of the index: the call is made or not, its answer never comes. */
class Dying implements VectorIndex {
  readonly #index: VectorIndex;
  readonly #made: boolean;
  readonly called = Promise.withResolvers<void>();

  constructor(index: VectorIndex, made: boolean) {
    this.#index = index;
    this.#made = made;
  }

  upsert: VectorIndex["upsert"] = (records) => this.#die(() => this.#index.upsert(records));
  deleteByIds: VectorIndex["deleteByIds"] = (ids) => this.#die(() => this.#index.deleteByIds(ids));
  present: VectorIndex["present"] = (ids) => this.#die(() => this.#index.present(ids));
  query: VectorIndex["query"] = (vector, query) => this.#die(() => this.#index.query(vector, query));
  check: VectorIndex["check"] = (dimensions) => this.#die(() => this.#index.check(dimensions));

  async #die<T>(call: () => Promise<T>): Promise<T> {
    if (this.#made) await call().catch(() => null);
    this.called.resolve();
    return new Promise<T>(() => {});
  }
}

export class Subject {
  readonly double = new VectorizeDouble(4, ["user", "kind", "scope", "model"]);
  readonly index = new VectorizeIndex(this.double, { write: 5, read: 5 });
  readonly sql: SqlStorage;
  /** The object's contents: the models that each document has a vector of. */
  readonly held = new Map<number, Set<string>>();
  outbox: VectorOutbox;

  constructor(sql: SqlStorage) {
    this.sql = sql;
    sql.exec(vectorOutboxSchema);
    this.outbox = this.over(this.index);
  }

  over(vectors: VectorIndex | null): VectorOutbox {
    return new VectorOutbox({
      sql: this.sql,
      vectors,
      owner: () => user,
      read: (model, ns) =>
        ns
          .filter((n) => this.held.get(n)?.has(model))
          .map((n) => ({ n, kind: "fact", values: Float32Array.of(n === SPOILT ? Number.NaN : n, 1, 0, 0) })),
      now: clock,
    });
  }

  put(n: number, model = MODEL): void {
    this.held.set(n, (this.held.get(n) ?? new Set()).add(model));
    this.outbox.put(n, model);
  }

  remove(...ns: number[]): void {
    const vectors = ns.flatMap((n) => Array.from(this.held.get(n) ?? [], (model) => ({ n, model })));
    for (const n of ns) this.held.delete(n);
    this.outbox.remove(vectors);
  }

  /** Drops the vector of one model only. */
  drop(n: number, model: string): void {
    this.held.get(n)?.delete(model);
    this.outbox.remove([{ n, model }]);
  }

  /** Dies in the first call of a drain, if there is one, and starts over what is stored. */
  async dieIn(made: boolean): Promise<void> {
    const dying = new Dying(this.index, made);
    await Promise.race([this.over(dying).drain(), dying.called.promise]);
    this.outbox = this.over(this.index);
  }

  /** Drains as the alarm would, until there is nothing to do. Answers how long that took by the clock. */
  async settle(): Promise<number> {
    const start = clock();
    for (let runs = 0; runs < 500; runs++) {
      const due = this.outbox.nextDue();
      if (due === null) return clock() - start;
      control.clockAt = Math.max(clock(), due);
      await this.outbox.drain();
    }
    throw new Error("the outbox does not come to rest");
  }

  /** The ids that the index should hold. */
  async wanted(): Promise<string[]> {
    const names = [...this.held].flatMap(([n, models]) => Array.from(models, (model) => ({ n, model })));
    const ids = names.map(async ({ n, model }) => vectorId(user, n, await modelTag(model)));
    return (await Promise.all(ids)).toSorted();
  }

  rows(): number {
    return this.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM vector_outbox").one().n;
  }
}

/** Runs a test with an outbox inside an object of its own. The object's class does not matter: its tables are not used. */
export async function withOutbox(test: (subject: Subject) => Promise<void>): Promise<void> {
  const object = env.PROMPT_CACHE.getByName(`outbox-${crypto.randomUUID()}`);
  control.clockAt = clock();
  await runInDurableObject(object, (_, { storage }) => test(new Subject(storage.sql)));
}
