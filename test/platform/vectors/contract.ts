import { describe, expect, it } from "vitest";
import { DeadlineExceeded } from "../../../src/platform/deadline.ts";
import type {
  VectorIndex,
  VectorMetadata,
  VectorRecord,
} from "../../../src/platform/vectors/vector-index.ts";

export type Subject = {
  /** Empty, of four dimensions. */
  index: VectorIndex;
  dimensions: 4;
  /** Waits until all that was written shows. */
  shown: () => Promise<void>;
  /** From now on the index does not answer reads. */
  hang: () => void;
};

const user = "A".repeat(22);
const metadata: VectorMetadata = { user, kind: "fact", model: "m" };
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `id-${i}`);

/** The contract on which callers of any vector index rely. */
export function vectorIndexContract(name: string, make: () => Subject): void {
  /** A vector at an angle of `turns` quarter turns to the first axis. */
  const vector = (turns: number, { dimensions }: Pick<Subject, "dimensions">): Float32Array => {
    const values = new Float32Array(dimensions);
    values[0] = Math.cos((turns * Math.PI) / 2);
    values[1] = Math.sin((turns * Math.PI) / 2);
    return values;
  };
  const record = (id: string, subject: Subject, changes: Partial<VectorRecord> = {}): VectorRecord => ({
    id,
    namespace: "u001",
    values: vector(0, subject),
    metadata,
    ...changes,
  });
  const found = async (subject: Subject, filter: object = {}, namespace = "u001") => {
    const query = { namespace, filter: { model: "m", ...filter }, topK: 100, withinMs: 1000 };
    return (await subject.index.query(vector(0, subject), query)).map(({ id }) => id);
  };

  describe(`the vector index contract, by ${name}`, () => {
    it("finds what was put, best first, with its cosine", async () => {
      const subject = make();
      const records = [0.5, 0, 1].map((turns) =>
        record(`at-${turns}`, subject, { values: vector(turns, subject) }),
      );
      await subject.index.upsert(records);
      await subject.shown();
      const hits = await subject.index.query(vector(0, subject), {
        namespace: "u001",
        filter: { model: "m" },
        topK: 2,
        withinMs: 1000,
      });
      expect(hits.map(({ id }) => id)).toEqual(["at-0", "at-0.5"]);
      expect(hits[0]?.score).toBeCloseTo(1, 2);
      expect(hits[1]?.score).toBeCloseTo(Math.SQRT1_2, 2);
    });

    it("puts twice what it puts once, and replaces what is there", async () => {
      const subject = make();
      await subject.index.upsert([
        record("a", subject),
        record("b", subject, { values: vector(0.1, subject) }),
      ]);
      await subject.index.upsert([record("a", subject)]);
      await subject.index.upsert([record("a", subject, { values: vector(1, subject) })]);
      await subject.shown();
      expect(await found(subject)).toEqual(["b", "a"]);
    });

    it("narrows a search by namespace and by each field, several kinds at once, and by all of them", async () => {
      const subject = make();
      const other = "B".repeat(22);
      await subject.index.upsert([
        record("a", subject, { metadata: { ...metadata, scope: "s" } }),
        record("b", subject, { metadata: { ...metadata, kind: "episode" } }),
        record("c", subject, { metadata: { ...metadata, user: other, kind: "message" } }),
        record("d", subject, { metadata: { ...metadata, model: "other" } }),
        record("e", subject, { namespace: "u002" }),
      ]);
      await subject.shown();
      const sorted = async (...given: [object?, string?]) => (await found(subject, ...given)).toSorted();
      expect(await sorted()).toEqual(["a", "b", "c"]);
      expect(await sorted({ user })).toEqual(["a", "b"]);
      expect(await sorted({ kinds: ["fact", "message"] })).toEqual(["a", "c"]);
      expect(await sorted({ user, kinds: ["fact", "message"] })).toEqual(["a"]);
      expect(await sorted({ kinds: [] })).toEqual([]);
      expect(await sorted({ scope: "s" })).toEqual(["a"]);
      expect(await sorted({ model: "other" })).toEqual(["d"]);
      expect(await sorted({}, "u002")).toEqual(["e"]);
    });

    it("searches every namespace when none is named", async () => {
      const subject = make();
      await subject.index.upsert([record("a", subject), record("b", subject, { namespace: "u002" })]);
      await subject.shown();
      const everywhere = { filter: { model: "m" }, topK: 10, withinMs: 1000 };
      const hits = await subject.index.query(vector(0, subject), everywhere);
      expect(hits.map(({ id }) => id).toSorted()).toEqual(["a", "b"]);
    });

    it("tells long scopes apart that begin with the same 64 bytes", async () => {
      const subject = make();
      const [long, longer] = ["/x".repeat(32), `${"/x".repeat(32)}/y`];
      for (const [id, scope] of Object.entries({ long, longer, huge: "/x".repeat(10_000) }))
        await subject.index.upsert([record(id, subject, { metadata: { ...metadata, scope } })]);
      await subject.shown();
      expect(await found(subject, { scope: long })).toEqual(["long"]);
      expect(await found(subject, { scope: longer })).toEqual(["longer"]);
      expect(await found(subject, { scope: "/x".repeat(10_000) })).toEqual(["huge"]);
    });

    it("says which ids read back, and forgets what is deleted", async () => {
      const subject = make();
      await subject.index.upsert(["a", "b"].map((id) => record(id, subject)));
      await subject.shown();
      expect(await subject.index.present(["a", "b", "c", "a"])).toEqual(new Set(["a", "b"]));
      await subject.index.deleteByIds(["a", "never there"]);
      await subject.shown();
      expect(await subject.index.present(["a", "b"])).toEqual(new Set(["b"]));
      expect(await found(subject)).toEqual(["b"]);
    });

    it.each([1000, 1001])("takes %i ids in one call of each kind", async (count) => {
      const subject = make();
      const ids = names(count);
      await subject.index.upsert(ids.map((id) => record(id, subject)));
      await subject.shown();
      expect((await subject.index.present(ids)).size).toBe(count);
      await subject.index.deleteByIds(ids);
      await subject.shown();
      expect((await subject.index.present(ids)).size).toBe(0);
    });

    it("does nothing with nothing", async () => {
      const { index } = make();
      await index.upsert([]);
      await index.deleteByIds([]);
      expect(await index.present([])).toEqual(new Set());
    });

    it("answers 100 hits, and refuses 101 and none", async () => {
      const subject = make();
      await subject.index.upsert(names(101).map((id) => record(id, subject)));
      await subject.shown();
      const ask = (topK: number) =>
        subject.index.query(vector(0, subject), {
          namespace: "u001",
          filter: { model: "m" },
          topK,
          withinMs: 1000,
        });
      expect(await ask(100)).toHaveLength(100);
      await expect(ask(101)).rejects.toThrow("topK");
      await expect(ask(0)).rejects.toThrow("topK");
    });

    it.each([
      ["an id of 64 bytes", { id: `é${"i".repeat(62)}` }],
      ["a namespace of 64 bytes", { namespace: "n".repeat(64) }],
    ])("takes %s", async (_, changes) => {
      const subject = make();
      const taken = record("i", subject, changes);
      await subject.index.upsert([taken]);
      await subject.shown();
      expect(await subject.index.present([taken.id])).toEqual(new Set([taken.id]));
    });

    it.each([
      ["an id of 65 bytes", { id: `é${"i".repeat(63)}` }],
      ["an id of none", { id: "" }],
      ["a namespace of 65 bytes", { namespace: "n".repeat(65) }],
      ["an infinite number", { values: Float32Array.of(1, 0, 0, Infinity) }],
      ["a number that is none", { values: Float32Array.of(1, 0, 0, Number.NaN) }],
      ["a dimension too many", { values: Float32Array.of(1, 0, 0, 0, 0) }],
    ])("refuses %s, and stores nothing of that call", async (_, changes) => {
      const subject = make();
      const call = subject.index.upsert([record("good", subject), record("bad", subject, changes)]);
      await expect(call).rejects.toThrow(Error);
      await subject.shown();
      expect(await found(subject)).toEqual([]);
    });

    it("refuses a query of another dimension", async () => {
      const { index, dimensions } = make();
      const query = { filter: { model: "m" }, topK: 1, withinMs: 1000 };
      await expect(index.query(new Float32Array(dimensions + 1), query)).rejects.toThrow(Error);
    });

    it("says what is wrong with another dimension, and what to do", async () => {
      const { index, dimensions } = make();
      expect(await index.check(dimensions)).toBeNull();
      expect(await index.check(dimensions + 1)).toContain(`${dimensions} dimensions`);
    });

    it("gives up a query in time", async () => {
      const subject = make();
      const query = { filter: { model: "m" }, topK: 1, withinMs: 5 };
      subject.hang();
      await expect(subject.index.query(vector(0, subject), query)).rejects.toBeInstanceOf(DeadlineExceeded);
    });
  });
}
