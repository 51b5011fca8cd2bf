// The same of values that no single call holds, and of several that write and read one of them at once.
import { describe, expect, it } from "vitest";
import { PART } from "../../../src/domain/entry-parts.ts";
import { large, places, watched } from "./large-values.ts";

const idsOf = (parts: readonly string[]): string[] => [
  ...new Set(parts.map((key) => key.split(PART)[1]?.split("/")[0] ?? "")),
];

describe.each(Object.entries(places))("%s", (_name, placeOf) => {
  it.each([5, 21])(
    "gives a value of %i MiB back to the character",
    async (mebibytes) => {
      const { parts, ...at } = await watched();
      const place = placeOf(at);
      const value = large("a", mebibytes);
      await place.set(value);
      expect((await placeOf(at).get())?.text === value.text).toBe(true);
      await place.delete();
      expect(await parts()).toEqual([]);
    },
    300_000,
  );

  it("gives who reads while it is replaced one of the values, whole", async () => {
    const { parts: _parts, ...at } = await watched();
    const [writer, reader] = [placeOf(at), placeOf(at)];
    const values = [large("a"), { text: "small" }, large("b"), large("c")];
    await writer.set(large("a"));
    const state = { writing: true };
    const writes = (async () => {
      for (const value of [...values, ...values]) await writer.set(value);
      state.writing = false;
    })();
    let reads = 0;
    for (; state.writing; reads++) {
      const read = await reader.get();
      expect(values.some(({ text }) => text === read?.text)).toBe(true);
    }
    await writes;
    expect(reads).toBeGreaterThan(1);
  }, 300_000);

  it("keeps one value, whole, of two that are written at once in several calls", async () => {
    const { parts, ...at } = await watched();
    const values = [large("a", 17), large("b", 17)];
    const place = placeOf(at);
    await place.set(large("0"));
    await Promise.all(values.map((value) => placeOf(at).set(value)));
    const read = await place.get();
    expect(values.filter(({ text }) => text === read?.text)).toHaveLength(1);
    expect(idsOf(await parts())).toHaveLength(1);
    await place.delete();
    expect(await parts()).toEqual([]);
  }, 300_000);
});
