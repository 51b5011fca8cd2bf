import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const project = join(import.meta.dirname, "..");
/** What `testCairn` rejects with, in a Node that was started with these flags. */
function refusal(...flags: string[]): { message: string; caused: boolean } {
  const script = `
    import { databaseClass } from "./testing/database.ts";
    const error = await databaseClass().then(() => null, (reason) => reason);
    console.log(JSON.stringify({ message: error?.message ?? "", caused: error?.cause !== undefined }));`;
  const args = [...flags, "--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: project, encoding: "utf8" }));
}
const sentence = `@edgecairn/embed/testing needs Node 22.16 or newer, or Deno 2.2: this is Node ${process.versions.node}`;

it("says which Node the Cairn for tests wants where there is no SQLite, and shows no other error", () => {
  expect(refusal("--no-experimental-sqlite")).toEqual({ message: sentence, caused: false });
});

it("says so too where SQLite is too old", () => {
  const old = `data:text/javascript,${encodeURIComponent(
    'import { StatementSync } from "node:sqlite"; delete StatementSync.prototype.setReturnArrays;',
  )}`;
  expect(refusal("--import", old)).toEqual({ message: sentence, caused: false });
});

it("takes the Node that it runs in", () => {
  expect(refusal().message).toBe("");
});
