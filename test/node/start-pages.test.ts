// The programs and commands of the README, of docs/start and of docs/guides, run as they stand, and the output that the pages show.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "../../packages/dev/local-server.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const pages = [
  ...["chat", "facts", "shared-cache"].map((page) => `docs/start/${page}.md`),
  ...["erase", "past-and-present", "several-people", "trust", "what-to-store"].map(
    (page) => `docs/guides/${page}.md`,
  ),
];

// Within the repository, so that `npm run token` works there as it does for the reader.
mkdirSync(join(root, "build"), { recursive: true });
const temporary = mkdtempSync(join(root, "build/start-"));

let server: LocalServer;
let token: string;
beforeAll(async () => {
  server = await startLocalServer({ port: await freePort(), state: join(temporary, "state") });
  token = await developmentToken("alice");
});
afterAll(async () => {
  await server.stop();
  rmSync(temporary, { recursive: true, force: true });
});

/** The output of a shell for `commands` in `folder`, with this Node as `node`. */
function printed(commands: string, folder: string): string {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ""}`;
  const env = { ...process.env, PATH, CAIRN_URL: server.url, CAIRN_TOKEN: token };
  const { stdout, stderr, status } = spawnSync("bash", ["-euc", commands], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  expect(status, `${commands}\n${stderr}`).toBe(0);
  return stdout;
}

/** Expects `text` to be as `shown`, where `…` stands for any characters within a line. */
function expectShown(text: string, shown: string): void {
  const parts = shown.split("…").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  expect(text).toMatch(new RegExp(`^${parts.join(".*")}$`));
}

it.each(pages)("%s shows what its commands print", (page) => {
  const folder = mkdtempSync(join(temporary, "start-"));
  const text = read(page);
  const [, name] = /Save\s+this\s+as\s+`([\w.]+)`/.exec(text) ?? [];
  const [, program = ""] = /```js\n([^]*?)```/.exec(text) ?? [];
  if (name !== undefined) writeFileSync(join(folder, name), program);
  // Each block of commands runs behind all that came before it, as in one terminal.
  let before = "";
  let shown = 0;
  for (const [, commands = "", output] of text.matchAll(/```sh\n([^]*?)```(?:\n\n```\n([^]*?)```)?/g)) {
    if (output !== undefined) {
      shown++;
      expectShown(printed(`{\n:\n${before}} > /dev/null\n${commands}`, folder), output);
    }
    // The next block needs the names that this one sets, and must not repeat its writes.
    before += `${commands
      .split("\n")
      .filter((line) => /^(?:[A-Z]=|export |cairn\(\))/.test(line))
      .join("\n")}\n`;
  }
  expect(shown).toBeGreaterThan(0);
});

it("the README's program prints what the README shows", () => {
  const [, program = "", output = ""] = /```js\n([^]*?)```\n\n```\n([^]*?)```/.exec(read("README.md")) ?? [];
  const node = spawnSync(process.execPath, ["--input-type=module"], {
    cwd: root,
    env: { ...process.env, CAIRN_URL: server.url },
    input: program,
    encoding: "utf8",
  });
  expect(node.stdout).toBe(output);
});
