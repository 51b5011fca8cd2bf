// The form in which names that are no field of a memory are stored: every release has to find them again.
import { expect, it } from "vitest";
import { nameOf } from "../../src/molroo/fields.ts";
import { externalIdOf } from "../../src/molroo/record.ts";

const LONG = "n".repeat(2000);

it("stores a long name by its hash, under `sha256:`", async () => {
  expect(await nameOf("Ada")).toBe("Ada");
  expect(await nameOf(LONG)).toMatch(/^sha256:[0-9a-f]{64}$/);
});

it("stores a long id by its hash, under its scope and kind", async () => {
  expect(await externalIdOf("a b", "episodes", "e-1")).toBe("a%20b/episodes/e-1");
  expect(await externalIdOf("a b", "episodes", LONG)).toMatch(/^a%20b\/episodes\/sha256:[0-9a-f]{64}$/);
});
