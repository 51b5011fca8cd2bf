// An import beside all else that an isolate has to do.
import { expect, it } from "vitest";
import { ok } from "../../../src/domain/errors.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { importLines } from "../../../src/worker/use-cases/import.ts";
import type { Services } from "../../../src/worker/services.ts";
import type { ImportItem } from "../../../src/contract/user-memory.ts";
import { clock } from "../../doubles/control.ts";

it("gives others a turn between any two calls of the object, also where body and object never make it wait", async () => {
  const hash = await userHash("u");
  const entries = Array.from({ length: 2000 }, (_, n) => ({
    type: "entry",
    key: `k${n}`,
    version: "019a0000-0000-7000-8000-000000000000",
    updatedAt: 1,
    value: n,
  }));
  const header = { format: "cairn-export", version: 1, userId: "u", userHash: hash };
  const end = { type: "end", lines: entries.length + 2 };
  const text = [header, ...entries, end].map((line) => JSON.stringify(line)).join("\n");
  let turns = 0;
  const turnsBefore: number[] = [];
  // It answers at once, as an object in the same process may: no event comes between.
  const object = {
    epoch: async () => 0,
    importItems: async (_: unknown, { items }: { items: ImportItem[] }) => {
      turnsBefore.push(turns);
      return ok({ counts: { imported: { entries: items.length }, there: {}, expired: {}, leftOut: {} } });
    },
  };
  // Of the object, it has what an import of entries asks for.
  const userMemory = (() => object) as unknown as Services["userMemory"];
  const extraction = { current: async () => ({ rules: [], redactions: [] }) };
  const importing = { over: false };
  const done = importLines({ userMemory, now: clock, extraction }, "u", {
    body: new Blob([text]).stream(),
    part: false,
    trust: "user",
  }).finally(() => {
    importing.over = true;
  });
  while (!importing.over) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    turns++;
  }
  expect(await done).toMatchObject({ value: { complete: true, imported: { entries: 2000 } } });
  expect(turnsBefore).toHaveLength(8);
  for (const [i, before] of turnsBefore.entries()) expect(before).toBeGreaterThan(turnsBefore[i - 1] ?? 0);
});
