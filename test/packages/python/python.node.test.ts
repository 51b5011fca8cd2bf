// The client of Python: written from the document of this Cairn, and used against a server by Python's own tests.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "../../../packages/dev/local-server.ts";
import { clientOf } from "../../../packages/python/source/client.ts";
import type { Document } from "../../../packages/python/source/document.ts";

const folder = join(import.meta.dirname, "../../../packages/python");
const read = (file: string) => readFileSync(join(folder, file), "utf8");
const state = mkdtempSync(join(tmpdir(), "cairn-python-"));

let server: LocalServer;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  server = await startLocalServer({ port: await freePort(), state });
  env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: "1",
    CAIRN_URL: server.url,
    CAIRN_TOKEN: await developmentToken("alice"),
    CAIRN_TOKEN_OF_ALL: await developmentToken("*"),
  };
});
afterAll(async () => {
  await server.stop();
  rmSync(state, { recursive: true, force: true });
});

it("is what `npm run python` writes from this Cairn's document", async () => {
  const answer = await fetch(`${server.url}/openapi.json`);
  // The shape is the Worker's promise.
  const written = clientOf((await answer.json()) as Document, read("source/transport.py"));
  // Not by a comparison of texts: a difference of thousands of lines takes minutes to print.
  expect(written === read("cairn.py"), "`npm run python` writes another file").toBe(true);
});

it("passes its own tests against a server", () => {
  const tests = spawnSync("python3", ["test_cairn.py"], { cwd: folder, env, encoding: "utf8" });
  expect(tests.error, "python3 is needed").toBeUndefined();
  expect(tests.status, tests.stderr).toBe(0);
  expect(tests.stderr).toMatch(/^Ran \d\d tests[^]*\nOK\n$/m);
});

it("has no word that Python 3.9 does not read, and no import from elsewhere", () => {
  const program = `
import ast, sys
tree = ast.parse(open("cairn.py").read(), feature_version=(3, 9))
names = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
print(sorted(name for name in names if name.split(".")[0] not in sys.stdlib_module_names))
`;
  expect(execFileSync("python3", ["-c", program], { cwd: folder, env, encoding: "utf8" })).toBe("[]\n");
});

it("does what its README shows", () => {
  const blocks = [
    ...read("README.md").matchAll(
      /(<!-- not run[^>]*-->\n\n)?```python\n([^]*?)```(?:\n\n```\n([^]*?)```)?/g,
    ),
  ].filter(([, notRun]) => notRun === undefined);
  const program = blocks.map(([, , text = ""]) => text).join("\n");
  const shown = blocks.map(([, , , output = ""]) => output).join("");
  const python = spawnSync("python3", ["-c", program], { cwd: folder, env, encoding: "utf8" });
  expect(python.stderr).toBe("");
  expect(shown).toContain("invalid_request");
  expect(python.stdout).toBe(shown);
});
