// Imports go down only, as docs/architecture.md draws them.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, it } from "vitest";

type Room = { name: string; path: string; imports: string };

/** A room, its path, and the rooms that it imports from. A file is in the room of the longest path that it begins with. */
const rooms: readonly Room[] = [
  { name: "domain", path: "src/domain", imports: "" },
  { name: "contract", path: "src/contract", imports: "domain" },
  { name: "platform", path: "src/platform", imports: "domain" },
  { name: "worker", path: "src/worker", imports: "contract platform domain package" },
  { name: "entry", path: "src/index.ts", imports: "worker user-memory prompt-cache" },
  { name: "storage", path: "durable-objects/storage", imports: "contract platform domain" },
  { name: "registry", path: "durable-objects/prompt-cache", imports: "storage contract domain" },
  {
    name: "prompt-cache",
    path: "durable-objects/prompt-cache.ts",
    imports: "registry storage contract platform domain",
  },
  ...floors("durable-objects/user-memory", "storage contract platform domain", [
    "core",
    "search-index",
    "memories threads",
    "vectorize entries",
    "ingest changes usage transfer",
    "recall erasure",
    "context",
    "schema.ts",
    "assemble.ts",
  ]),
  {
    name: "user-memory",
    path: "durable-objects/user-memory.ts",
    imports: "assemble.ts core storage contract platform domain",
  },
  { name: "client", path: "packages/client/src", imports: "domain" },
  { name: "embed", path: "packages/client/worker", imports: "worker user-memory prompt-cache" },
  {
    name: "testing",
    path: "packages/client/testing",
    imports: "worker user-memory prompt-cache platform domain",
  },
  { name: "command", path: "packages/client/cli.ts", imports: "cli package" },
  { name: "client-scripts", path: "packages/client/scripts", imports: "client" },
  { name: "console", path: "packages/console", imports: "client domain examples" },
  { name: "cli", path: "packages/cli", imports: "dev client worker platform domain" },
  { name: "dev", path: "packages/dev", imports: "console client platform domain" },
  { name: "python", path: "packages/python", imports: "dev" },
  { name: "tenant", path: "packages/tenant", imports: "platform domain" },
  { name: "lab", path: "packages/lab", imports: "*" },
  { name: "examples", path: "examples", imports: "dev" },
  { name: "test", path: "test", imports: "*" },
  { name: "client-test", path: "packages/client/test", imports: "*" },
  { name: "package", path: "package.json", imports: "" },
];

/** The rooms of an object, from the ground up: each imports from those below its floor, and from `ground`. */
function floors(path: string, ground: string, names: readonly string[]): Room[] {
  return names.flatMap((floor, i) =>
    floor
      .split(" ")
      .map((name) => ({ name, path: join(path, name), imports: [ground, ...names.slice(0, i)].join(" ") })),
  );
}

const roomOf = (file: string): Room | undefined =>
  rooms
    .filter(({ path }) => file === path || file.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0];

const filesIn = (path: string): string[] =>
  (statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, encoding: "utf8" }).map((one) => join(path, one))
  ).filter((file) => /\.(tsx?|mts|js)$/.test(file) && !/\b(?:node_modules|dist|build)\//.test(file));

// `#domain/*`: ./src/domain/*
const aliases = Object.entries<string>(JSON.parse(readFileSync("package.json", "utf8")).imports).map(
  ([alias, path]) => [alias.replace("*", ""), path.replace("*", "")] as const,
);

/** `from "…"` at the end of a statement, `import "…"`, and `import("…")`. */
const IMPORT = /(?:^(?:import|export|\}) ?(?:.* )?from |^import |\bimport\()"([.#][^"]+)"/gm;

/** The imports of a file from this tree, types too. */
const importsOf = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, path = ""]) => {
    const [alias, to] = aliases.find(([prefix]) => path.startsWith(prefix)) ?? [];
    return normalize(alias === undefined ? join(dirname(file), path) : `${to}${path.slice(alias.length)}`);
  });

/** The imports of these files that no arrow allows. */
const wrong = (files: readonly string[], read = importsOf): string[] =>
  files.flatMap((file) => {
    const from = roomOf(file);
    const allowed = new Set(from?.imports.split(" "));
    return read(file).flatMap((target) => {
      const to = roomOf(target);
      const isFine = to !== undefined && (to === from || allowed.has(to.name));
      return isFine || allowed.has("*") ? [] : [`${file} imports ${target}`];
    });
  });

it("has a room for each path of the table, and a name for each room", () => {
  expect(rooms.filter(({ path }) => !existsSync(path))).toEqual([]);
  const named = new Set(["", "*", ...rooms.map(({ name }) => name)]);
  expect(rooms.flatMap(({ imports }) => imports.split(" ")).filter((name) => !named.has(name))).toEqual([]);
});

it("has a room for each file of the code", () => {
  const files = ["src", "durable-objects", "packages", "examples", "test"].flatMap(filesIn);
  const roomless = files.filter((file) => roomOf(file) === undefined);
  expect(roomless).toEqual(["packages/client/vitest.config.ts"]);
});

it("imports down only", () => {
  const files = new Set(rooms.flatMap(({ path }) => filesIn(path)));
  expect(files.size).toBeGreaterThan(500);
  expect(wrong([...files])).toEqual([]);
});

it.each([
  ["src/domain/ids.ts", "src/platform/deadline.ts"],
  ["src/platform/bindings.ts", "src/worker/app.ts"],
  ["src/worker/app.ts", "durable-objects/user-memory/assemble.ts"],
  ["durable-objects/user-memory.ts", "src/worker/app.ts"],
  ["durable-objects/user-memory/core/turn.ts", "durable-objects/user-memory/recall/arms.ts"],
  ["durable-objects/user-memory/memories/rows.ts", "durable-objects/user-memory/threads/lineage.ts"],
  ["packages/client/src/cairn.ts", "src/worker/app.ts"],
  ["packages/cli/token.ts", "test/call.ts"],
])("refuses that %s imports %s", (file, target) => {
  expect(wrong([file], () => [target])).toEqual([`${file} imports ${target}`]);
});
