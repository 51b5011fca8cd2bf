import { afterEach, describe, expect, it } from "vitest";
import { VectorizeIndex } from "../../../src/platform/vectors/vectorize.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { VectorizeDouble } from "../../doubles/vectorize.ts";
import { vectorIndexContract } from "./contract.ts";

afterEach(restore);

const indexed = ["user", "kind", "scope", "model"];
const within = { write: 20, read: 20 };

// Another implementation of the port runs the same suite with one more line like this one.
vectorIndexContract("Vectorize", () => {
  control.vectorizeLag = 2 * 60_000;
  const shown = async () => void (control.clockAhead += 2 * 60_000);
  const hang = () => void (control.vectorizeReads = "hang");
  return { index: new VectorizeIndex(new VectorizeDouble(4, indexed)), dimensions: 4, shown, hang };
});

const one = { id: "a", namespace: "u001", values: Float32Array.of(1, 0, 0, 0) };
const record = { ...one, metadata: { user: "A".repeat(22), kind: "fact", model: "m" } };
const query = { filter: { model: "m" }, topK: 10, withinMs: 20 };

describe("Vectorize", () => {
  it("is called once for 1,000 upserts, 100 deletes, 20 reads, and once more for one more", async () => {
    const double = new VectorizeDouble(4, indexed);
    const index = new VectorizeIndex(double);
    const ids = Array.from({ length: 1001 }, (_, i) => `id-${i}`);
    await index.upsert(ids.map((id) => ({ ...record, id })));
    await index.deleteByIds(ids.slice(0, 101));
    await index.present(ids.slice(0, 21));
    expect(double.calls).toMatchObject({ upsert: 2, deleteByIds: 2, getByIds: 2 });
  });

  it.each(["hang", "hang-after"] as const)("gives up writes that %s", async (how) => {
    const index = new VectorizeIndex(new VectorizeDouble(4), within);
    control.vectorizeWrites = how;
    await expect(index.upsert([record])).rejects.toThrow("within 20 ms");
    await expect(index.deleteByIds(["a"])).rejects.toThrow("within 20 ms");
    control.vectorizeWrites = "ok";
    control.vectorizeReads = "hang";
    await expect(index.present(["a"])).rejects.toThrow("within 20 ms");
    await expect(index.query(record.values, query)).rejects.toThrow("within 20 ms");
    expect(await index.check(4)).toContain("does not answer");
  });

  it("brings each hit once", async () => {
    const index = new VectorizeIndex(new VectorizeDouble(4, indexed));
    await index.upsert([record]);
    control.vectorizeReads = "stale";
    expect(await index.query(record.values, query)).toHaveLength(1);
  });

  it("says that an index which does not answer may not be there", async () => {
    control.vectorizeReads = "fail";
    expect(await new VectorizeIndex(new VectorizeDouble(4)).check(4)).toContain("see that the index");
  });
});

describe("the double of Vectorize", () => {
  const vector = { ...one, metadata: { user: "u" } };

  it("shows a write after its lag, and writes in the order of their acceptance", async () => {
    const double = new VectorizeDouble(4);
    control.clockAt = clock();
    control.vectorizeLag = 120_000;
    await double.upsert([vector]);
    control.vectorizeLag = 0;
    await double.deleteByIds(["a"]);
    control.clockAt += 119_999;
    expect(await double.getByIds(["a"])).toEqual([]);
    await double.upsert([vector]);
    expect(await double.getByIds(["a"])).toEqual([]);
    control.clockAt += 1;
    expect(await double.getByIds(["a"])).toHaveLength(1);
  });

  it("ignores an insert of what is there, and replaces it in an upsert", async () => {
    const double = new VectorizeDouble(4);
    const changed = { ...vector, values: Float32Array.of(0, 1, 0, 0) };
    await double.insert([vector]);
    await double.insert([changed]);
    expect((await double.getByIds(["a"]))[0]?.values).toEqual(vector.values);
    await double.upsert([changed]);
    expect((await double.getByIds(["a"]))[0]?.values).toEqual(changed.values);
  });

  it("filters only by what was indexed before it was written, by 64 bytes of it", async () => {
    const double = new VectorizeDouble(4);
    const found = async (user: string) =>
      (await double.query(one.values, { filter: { user } })).matches.map(({ id }) => id);
    await double.upsert([vector]);
    double.createMetadataIndex("user");
    expect(await found("u")).toEqual([]);
    await double.upsert([vector, { ...vector, id: "long", metadata: { user: "é".repeat(40) } }]);
    expect(await found("u")).toEqual(["a"]);
    expect(await found("é".repeat(32))).toEqual(["long"]);
    expect(await found("é".repeat(40))).toEqual([]);
  });

  it("carries a late write out after later ones, and one that comes twice once more", async () => {
    const double = new VectorizeDouble(4);
    control.clockAt = clock();
    for (const how of ["late", "twice"] as const) {
      control.vectorizeWrites = how;
      await double.upsert([vector]);
      control.vectorizeWrites = "ok";
      await double.deleteByIds(["a"]);
      expect(await double.getByIds(["a"])).toEqual([]);
      control.clockAt += control.vectorizeLate;
      expect(await double.getByIds(["a"])).toHaveLength(1);
      await double.deleteByIds(["a"]);
    }
  });

  it("fails before, and after it has accepted", async () => {
    const double = new VectorizeDouble(4);
    control.vectorizeWrites = "before";
    await expect(double.upsert([vector])).rejects.toThrow("Too Many Requests");
    expect(double.ids()).toEqual([]);
    control.vectorizeWrites = "after";
    await expect(double.upsert([vector])).rejects.toThrow("500");
    expect(double.ids()).toEqual(["a"]);
  });

  it.each<[string, (double: VectorizeDouble) => Promise<unknown>, string]>([
    ["1,001 vectors", (d) => d.upsert(Array.from({ length: 1001 }, () => vector)), "40007"],
    ["101 deletes", (d) => d.deleteByIds(Array.from({ length: 101 }, () => "a")), "40007"],
    ["21 reads", (d) => d.getByIds(Array.from({ length: 21 }, () => "a")), "40007"],
    ["an id of 65 bytes", (d) => d.upsert([{ ...vector, id: "i".repeat(65) }]), "40008"],
    ["a namespace of 65 bytes", (d) => d.upsert([{ ...vector, namespace: "n".repeat(65) }]), "40009"],
    ["five dimensions", (d) => d.upsert([{ ...vector, values: [1, 2, 3, 4, 5] }]), "expected 4 dimensions"],
    [
      "more than 10 KiB of metadata",
      (d) => d.upsert([{ ...vector, metadata: { t: "t".repeat(10_233) } }]),
      "40023",
    ],
    ["a key with a dot", (d) => d.upsert([{ ...vector, metadata: { "a.b": 1 } }]), "40018"],
    ["topK 101", (d) => d.query(one.values, { topK: 101 }), "max top K is 100"],
    ["topK 51 with values", (d) => d.query(one.values, { topK: 51, returnValues: true }), "max top K is 50"],
    [
      "topK 51 with metadata",
      (d) => d.query(one.values, { topK: 51, returnMetadata: "all" }),
      "max top K is 50",
    ],
  ])("refuses %s", async (_, call, reason) => {
    await expect(call(new VectorizeDouble(4))).rejects.toThrow(reason);
  });

  it("takes what is at the edge", async () => {
    const double = new VectorizeDouble(4);
    await double.upsert([{ ...vector, metadata: { t: "t".repeat(10_232) } }]);
    await double.deleteByIds(Array.from({ length: 100 }, () => "b"));
    expect(await double.getByIds(Array.from({ length: 20 }, () => "b"))).toEqual([]);
    expect((await double.query(one.values, { topK: 50, returnMetadata: "all" })).count).toBe(1);
  });
});
