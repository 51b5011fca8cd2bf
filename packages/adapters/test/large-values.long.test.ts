// The same of values that no single call holds, and of several that write and read one of them at once: over one adapter of each
// class that splits values, and the one that reads them by their entries' versions too.
import { describe, expect, it } from "vitest";
import { PART } from "../../../src/domain/entry-parts.ts";
import { large, places, watched } from "./large-values.ts";

const idsOf = (parts: readonly string[]): string[] => [
  ...new Set(parts.map((key) => key.split(PART)[1]?.split("/")[0] ?? "")),
];

const some = ["noetic's storage", "gemstack's cache", "langgraph's store"];

const chosen = Object.entries(places).filter(([name]) => some.includes(name));

it("each adapter that is named is tested", () => {
  expect(chosen).toHaveLength(some.length);
});

describe.each(chosen)("%s", (_name, placeOf) => {
  it("gives a value of 17 MiB back to the character", async () => {
    const { parts, ...at } = await watched();
    const place = placeOf(at);
    const value = large("a", 17);
    await place.set(value);
    expect((await placeOf(at).get())?.text === value.text).toBe(true);
    await place.delete();
    expect(await parts()).toEqual([]);
  });

  it("gives who reads while it is replaced one of the values, whole", async () => {
    const { parts: _parts, ...at } = await watched();
    const [writer, reader] = [placeOf(at), placeOf(at)];
    const values = [large("a"), { text: "small" }, large("b"), large("c")];
    await writer.set(large("a"));
    const state = { reading: true };
    const writes = (async () => {
      for (let i = 0; state.reading; i++) await writer.set(values[i % values.length] ?? large("a"));
    })();
    try {
      for (let read = 0; read < 8; read++) {
        const value = await reader.get();
        expect(values.some(({ text }) => text === value?.text)).toBe(true);
      }
    } finally {
      state.reading = false;
      await writes;
    }
  });

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
  });
});
