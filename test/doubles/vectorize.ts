import { byteLength } from "../../src/domain/limits.ts";
import type { VectorizeBinding } from "../../src/platform/vectors/vectorize.ts";
import { clock, control } from "./control.ts";
import { matches } from "./vectorize-filter.ts";
import { checkCount, refuse, type Stored, taken } from "./vectorize-payload.ts";

/** A write that was accepted. */
type Mutation = { dueAt: number; carryOut: () => void };

/**
 * Vectorize's binding as its documents say that it behaves: a write is accepted at once, carried out in the order of
 * acceptance, and seen by reads after a lag. How it fails is turned in `control`. It searches exactly, where the real
 * one is approximate.
 */
export class VectorizeDouble implements VectorizeBinding {
  readonly dimensions: number;
  /** Calls by name: what costs a request. */
  readonly calls = { upsert: 0, insert: 0, deleteByIds: 0, getByIds: 0, query: 0 };
  readonly #vectors = new Map<string, Stored>();
  /** All that was ever there, for queries that bring what is deleted. */
  readonly #ever = new Map<string, Stored>();
  readonly #metadataIndexes = new Set<string>();
  #accepted: Mutation[] = [];
  #lastInTurn = 0;
  #mutations = 0;

  constructor(dimensions: number, metadataIndexes: readonly string[] = []) {
    this.dimensions = dimensions;
    for (const name of metadataIndexes) this.createMetadataIndex(name);
  }

  /** As `wrangler vectorize create-metadata-index`: only what is written from now on is found by it. */
  createMetadataIndex(name: string): void {
    if (this.#metadataIndexes.size === 10) throw new Error("at most 10 metadata indexes");
    this.#metadataIndexes.add(name);
  }

  /** The ids that are there once all that was accepted has been carried out. */
  ids(): string[] {
    this.#carryOut(Infinity);
    return [...this.#vectors.keys()].toSorted();
  }

  async describe(): Promise<VectorizeIndexInfo> {
    await this.#read("INDEX_GET");
    const { dimensions } = this;
    const vectorCount = this.#vectors.size;
    return { vectorCount, dimensions, processedUpToDatetime: 0, processedUpToMutation: 0 };
  }

  upsert(vectors: VectorizeVector[]): Promise<VectorizeAsyncMutation> {
    this.calls.upsert++;
    return this.#put("UPSERT", vectors, () => true);
  }

  insert(vectors: VectorizeVector[]): Promise<VectorizeAsyncMutation> {
    this.calls.insert++;
    return this.#put("INSERT", vectors, (id) => !this.#vectors.has(id));
  }

  deleteByIds(ids: string[]): Promise<VectorizeAsyncMutation> {
    this.calls.deleteByIds++;
    const gone = [...ids];
    return this.#write("DELETE", () => {
      checkCount("DELETE", gone, 100);
      return () => {
        for (const id of gone) this.#vectors.delete(id);
      };
    });
  }

  async getByIds(ids: string[]): Promise<VectorizeVector[]> {
    this.calls.getByIds++;
    await this.#read("GET");
    checkCount("GET", ids, 20);
    return ids.flatMap((id) => {
      const stored = this.#vectors.get(id);
      return stored === undefined ? [] : [{ ...stored.vector, values: stored.values }];
    });
  }

  async query(
    vector: VectorFloatArray | number[],
    {
      topK = 5,
      namespace,
      filter,
      returnValues = false,
      returnMetadata = "none",
    }: VectorizeQueryOptions = {},
  ): Promise<VectorizeMatches> {
    this.calls.query++;
    await this.#read("QUERY");
    const query = Float32Array.from(vector);
    if (query.length !== this.dimensions)
      refuse(
        "QUERY",
        40006,
        `invalid query vector, expected ${this.dimensions} dimensions, and got ${query.length} dimensions`,
      );
    if (typeof returnMetadata === "boolean") refuse("QUERY", 40026, "returnMetadata: all, indexed or none");
    const most = returnValues || returnMetadata === "all" ? 50 : 100;
    if (topK < 1 || topK > most) refuse("QUERY", 40025, `max top K is ${most}`);
    if (filter !== undefined && byteLength(JSON.stringify(filter)) >= 2048)
      refuse("QUERY", 40027, "filter too long");
    const stale = control.vectorizeReads === "stale";
    const found = [...(stale ? this.#ever : this.#vectors).values()]
      .filter((one) => namespace === undefined || one.vector.namespace === namespace)
      .filter(({ indexed }) => filter === undefined || matches(indexed, filter))
      .map((one) => ({
        id: one.vector.id,
        score: cosine(query, one.values),
        ...(returnValues && { values: one.values }),
        ...(returnMetadata === "all" && { metadata: one.vector.metadata ?? {} }),
      }))
      .toSorted((a, b) => b.score - a.score);
    if (stale) found.unshift(...found.slice(0, 1));
    return { matches: found.slice(0, topK), count: Math.min(found.length, topK) };
  }

  #put(
    call: string,
    vectors: readonly VectorizeVector[],
    wanted: (id: string) => boolean,
  ): Promise<VectorizeAsyncMutation> {
    return this.#write(call, () => {
      if (vectors.length > 1000) refuse(call, 40007, "too many vectors in payload; max is 1000");
      const index = { dimensions: this.dimensions, metadataIndexes: this.#metadataIndexes };
      const all = vectors.map((vector) => taken(call, vector, index));
      return () => {
        for (const one of all) {
          if (!wanted(one.vector.id)) continue;
          this.#vectors.set(one.vector.id, one);
          this.#ever.set(one.vector.id, one);
        }
      };
    });
  }

  async #write(call: string, accept: () => Mutation["carryOut"]): Promise<VectorizeAsyncMutation> {
    await control.duringVectorizeWrite();
    const how = control.vectorizeWrites;
    if (how === "before") refuse(call, 40041, "Too Many Requests");
    if (how === "hang") await new Promise(() => {});
    const carryOut = accept();
    if (how !== "late") {
      this.#lastInTurn = Math.max(this.#lastInTurn, clock() + control.vectorizeLag);
      this.#accepted.push({ dueAt: this.#lastInTurn, carryOut });
    }
    if (how === "late" || how === "twice")
      this.#accepted.push({ dueAt: clock() + control.vectorizeLate, carryOut });
    if (how === "after") throw new Error(`VECTOR_${call}_ERROR: Status + 500`);
    if (how === "hang-after") await new Promise(() => {});
    return { mutationId: `mutation-${++this.#mutations}` };
  }

  async #read(call: string): Promise<void> {
    if (control.vectorizeReads === "fail") throw new Error(`VECTOR_${call}_ERROR: Status + 500`);
    if (control.vectorizeReads === "hang") await new Promise(() => {});
    this.#carryOut(clock());
  }

  #carryOut(until: number): void {
    const inOrder = this.#accepted.toSorted((a, b) => a.dueAt - b.dueAt);
    for (const { dueAt, carryOut } of inOrder) if (dueAt <= until) carryOut();
    this.#accepted = inOrder.filter(({ dueAt }) => dueAt > until);
  }
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b) || 1);
}
