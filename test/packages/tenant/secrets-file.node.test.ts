// The file that takes the secret to wrangler goes with the command, also if somebody stops that.
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { isAlive, start } from "../../node/run.ts";
import { root } from "./desk.ts";

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("leaves no secret behind after %s", async (signal) => {
  const home = mkdtempSync(join(tmpdir(), "cairn-secrets-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const program = `
    import { RealWrangler } from ${JSON.stringify(join(root, "packages/tenant/wrangler.ts"))};
    await new RealWrangler(".", undefined).run(["deploy"], { CAIRN_SECRET: "a secret" });`;
  writeFileSync(join(home, "wrangler"), `#!/bin/sh\ntouch "${home}/began"\nexec sleep 600\n`);
  chmodSync(join(home, "wrangler"), 0o755);
  const running = start(
    [process.execPath, "--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program],
    { PATH: `${home}:${process.env.PATH}`, TMPDIR: home },
  );
  onTestFinished(() => void (isAlive(running) && process.kill(-(running.child.pid ?? 0), "SIGKILL")));
  const folders = () => readdirSync(home).filter((name) => name.startsWith("cairn-tenant-"));
  await expect.poll(() => readdirSync(home), { timeout: 60_000 }).toContain("began");
  expect(folders()).toHaveLength(1);
  const ended = once(running.child, "exit");
  running.child.kill(signal);
  expect((await ended)[1]).toBe(signal);
  expect(folders()).toEqual([]);
});
