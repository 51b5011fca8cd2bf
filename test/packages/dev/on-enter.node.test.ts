import { PassThrough } from "node:stream";
import { afterEach, expect, it, vi } from "vitest";
import { onEnter } from "../../../packages/dev/on-enter.ts";

afterEach(() => void vi.unstubAllEnvs());

it("acts at each line of a terminal where the system has no ps", async () => {
  vi.stubEnv("PATH", "");
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  let acted = 0;
  const leave = onEnter(terminal, async () => void acted++);
  for (const times of [1, 2]) {
    terminal.write("\n");
    await expect.poll(() => acted).toBe(times);
  }
  leave();
  expect(terminal.destroyed).toBe(true);
});
