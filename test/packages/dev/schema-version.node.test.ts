import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { olderState, otherWriter, schemaVersion } from "../../../packages/dev/schema-version.ts";

const root = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "cairn-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A state as a server leaves it, whose tables another version then had. */
async function writtenState(edit: (migrations: string) => string): Promise<string> {
  const state = mkdtempSync(join(folder, "state-"));
  expect(await otherWriter(state)).toBeNull();
  mkdirSync(join(state, "v3/d1"), { recursive: true });
  const file = join(state, "migrations");
  writeFileSync(file, edit(readFileSync(file, "utf8")));
  return state;
}

it("CHANGELOG.md says what changed in the tables, under the version that they have now", async () => {
  const version = await schemaVersion();
  expect(
    readFileSync(join(root, "CHANGELOG.md"), "utf8").includes(`schema \`${version}\``),
    `A migration changed. Who has data must read of it: add to CHANGELOG.md what changed, and in that line put "schema \`${version}\`" (CONTRIBUTING.md, "Add a migration").`,
  ).toBe(true);
});

it("accepts the tables of this version, and those that a later step was added to", async () => {
  expect(await otherWriter(await writtenState((migrations) => migrations))).toBeNull();
  expect(
    await otherWriter(await writtenState((migrations) => migrations.split("\n").slice(1).join("\n"))),
  ).toBeNull();
});

it("knows who wrote a state with a migration that was edited since, and leaves the state as it is", async () => {
  const state = await writtenState((migrations) => migrations.replace(/[0-9a-f]{16}/, "0123456789abcdef"));
  const files = () => ["migrations", "version.json"].map((name) => readFileSync(join(state, name), "utf8"));
  const before = files();
  const revision = execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { cwd: root }).toString().trim();
  const writer = await otherWriter(state);
  expect(writer).toMatchObject({ revision, schema: expect.stringMatching(/^[0-9a-f]{8}$/) });
  expect(writer?.schema).not.toBe(await schemaVersion());
  expect(files()).toEqual(before);
});

it("tells first how to export an older state by its version, then how to begin anew", () => {
  const text = olderState(
    "/data/state",
    { schema: "0badcafe", revision: "0123456789ab", changed: false },
    { port: 8788, current: "12345678" },
  );
  expect(text).toContain("schema 0badcafe, written by revision 0123456789ab");
  const steps = [
    "git worktree add ../cairn-0123456789ab 0123456789ab && npm --prefix ../cairn-0123456789ab ci",
    "CAIRN_STATE=/data/state PORT=8788 npm --prefix ../cairn-0123456789ab start",
    "npm --prefix ../cairn-0123456789ab run export -- --all",
    "mv /data/state /data/state-0badcafe\nnpm start",
    "npm run import -- --dir cairn-export",
  ].map((step) => text.indexOf(step));
  expect(steps).not.toContain(-1);
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  expect(text).not.toMatch(/\brm\b|delete/);
});

it("says how to find the version of a state that does not name it, and what was not committed", () => {
  const numbers = { port: 8788, current: "12345678" };
  const unknown = olderState("/s", { schema: "unknown", revision: null, changed: false }, numbers);
  expect(unknown).toContain("git log -- migrations 'durable-objects/*/schema.ts'");
  expect(unknown).toContain("git worktree add ../cairn-REVISION REVISION");
  const changed = olderState("/s", { schema: "1", revision: "abc", changed: true }, numbers);
  expect(changed).toContain("changes that were not committed: make them in ../cairn-abc again");
});
