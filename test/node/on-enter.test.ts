import { PassThrough } from "node:stream";
import { afterEach, expect, it, vi } from "vitest";
import { onEnter } from "../../scripts/on-enter.ts";

afterEach(() => void vi.unstubAllEnvs());

it("acts at each line of a terminal where the system has no ps", async () => {
  vi.stubEnv("PATH", "");
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  let acted = 0;
  const leave = onEnter(terminal, async () => void acted++);
  for (const line of ["\n", "again\n"]) {
    terminal.write(line);
    await vi.waitFor(() => expect(terminal.readableLength).toBe(0));
  }
  expect(acted).toBe(2);
  leave();
  expect(terminal.destroyed).toBe(true);
});
