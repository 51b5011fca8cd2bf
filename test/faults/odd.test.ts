import { expect, it } from "vitest";
import { runHistory, seedsOf } from "./run.ts";

it("keeps its promises through the histories of odd seeds", async () => {
  for (const seed of seedsOf(1, 2)) await expect(runHistory(seed)).resolves.toBeUndefined();
}, 1_200_000);
