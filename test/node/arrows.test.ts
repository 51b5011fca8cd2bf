// Imports go down only, as docs/internals/architecture.md draws them.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, it } from "vitest";

type Room = { name: string; paths: readonly string[]; imports: string };

/** The floors of a user's object, from the ground up: each imports from those below it. */
const FLOORS = [
  "core",
  "search-index",
  "memories threads",
  "vectorize entries",
  "ingest changes usage transfer",
  "recall erasure retention restore",
  "context",
  "assemble",
];

const room = (name: string, paths: string, imports = ""): Room => ({
  name,
  paths: paths.split(" "),
  imports,
});

/** A room, its paths, and the rooms that it imports from. A file is in the room of the longest path that it begins with. */
const rooms: readonly Room[] = [
  room("domain", "src/domain"),
  room("contract", "src/contract", "domain"),
  room("platform", "src/platform", "domain"),
  room("worker", "src/worker", "contract platform domain package"),
  // Alone in `src` it imports from packages and objects.
  room("entry", "src/index.ts", "worker objects client"),
  room("objects", "durable-objects", "contract platform domain"),
  room("client", "packages/client/src", "domain"),
  room("adapters", "packages/adapters/src packages/adapters/scripts", "client domain"),
  room("embed", "packages/embed/worker packages/embed/testing", "worker objects platform client domain"),
  room("transfer", "packages/cli/transfer", "domain"),
  room("importers", "packages/importers/src", "transfer client domain"),
  room("cli", "packages/cli", "importers transfer dev domain package"),
  room("console", "packages/console", "client conversations"),
  room("dev", "packages/dev", "console client domain"),
  room("bundle", "packages/dev/bundle"),
  room("create", "packages/create-cairn"),
  room("builds", "packages/client/scripts packages/embed/scripts packages/importers/scripts", "bundle"),
  room("python", "packages/python", "dev"),
  room("site", "packages/site", "dev"),
  room("tenant", "packages/tenant", "platform domain"),
  room("lab", "packages/lab", "entry embed adapters client dev platform domain"),
  room("conversations", "examples/support-case.json"),
  room("examples", "examples"),
  // The version in it.
  room("package", "package.json packages/client/package.json"),
];

/** Tests import from anywhere, and nothing else imports from them. */
const TESTS = [
  "test",
  "packages/create-cairn/test",
  "packages/client/test",
  "packages/adapters/test",
  "packages/embed/test",
];

const isIn = (file: string, path: string): boolean => file === path || file.startsWith(`${path}/`);

/** What has the longest path that the file begins with. */
const nearest = <T extends { paths: readonly string[] }>(all: readonly T[], file: string): T | undefined =>
  all
    .flatMap((one) => one.paths.filter((path) => isIn(file, path)).map((path) => ({ one, path })))
    .toSorted((a, b) => b.path.length - a.path.length)[0]?.one;

const isTest = (file: string): boolean => TESTS.some((path) => isIn(file, path));
const roomOf = (file: string): Room | undefined => (isTest(file) ? undefined : nearest(rooms, file));

const filesIn = (path: string): string[] =>
  (statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, encoding: "utf8" }).map((one) => join(path, one))
  ).filter((file) => /(?<!\.d)\.(tsx?|mts|js)$/.test(file) && !/\b(?:node_modules|dist|build)\//.test(file));

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

/** The parts of the objects, from the ground up. */
const parts = [
  "storage",
  "prompt-cache",
  "prompt-cache.ts",
  "user-memory/schema.ts",
  ...FLOORS.map((floor) =>
    floor
      .split(" ")
      .map((name) => `user-memory/${name}`)
      .join(" "),
  ),
  "user-memory/assemble.ts",
  "user-memory.ts",
].map((names) => ({ paths: names.split(" ").map((name) => `durable-objects/${name}`) }));

/** Of an object: the floor of a file. Files of one floor import from their own folder alone. */
const goesDown = (file: string, target: string): boolean => {
  const [from, to] = [file, target].map((one) =>
    parts.findIndex(({ paths }) => paths.some((path) => isIn(one, path))),
  );
  if (from === undefined || to === undefined || from === -1 || to === -1) return false;
  return to < from || (parts[from]?.paths.some((path) => isIn(file, path) && isIn(target, path)) ?? false);
};

/** The imports of these files that no arrow allows. */
const wrong = (files: readonly string[], read = importsOf): string[] =>
  files.flatMap((file) => {
    const from = roomOf(file);
    return read(file).flatMap((target) => {
      const to = roomOf(target);
      const isFine =
        from !== undefined &&
        to !== undefined &&
        (from === to
          ? from.name !== "objects" || goesDown(file, target)
          : from.imports.split(" ").includes(to.name));
      return isFine ? [] : [`${file} imports ${target}`];
    });
  });

const ROOTS = ["src", "durable-objects", "packages", "examples", "test"];
const files = ROOTS.flatMap(filesIn);
const arrows = rooms.flatMap(({ name, imports }) =>
  imports === "" ? [] : imports.split(" ").map((to) => `${name} --> ${to}`),
);

it("has a file for each path of the table, and a room for each file of the code", () => {
  const paths = [...rooms, ...parts].flatMap((one) => one.paths);
  expect([...paths, ...TESTS].filter((path) => !existsSync(path))).toEqual([]);
  const roomless = files.filter((file) => !isTest(file) && roomOf(file) === undefined);
  expect(roomless).toEqual(["packages/vitest.config.ts"]);
  const objects = files.filter((file) => isIn(file, "durable-objects"));
  expect(objects.filter((file) => nearest(parts, file) === undefined)).toEqual([]);
});

it("imports down only", () => {
  expect(files.length).toBeGreaterThan(500);
  expect(wrong(files.filter((file) => !isTest(file) && roomOf(file) !== undefined))).toEqual([]);
});

it("has no arrow that no import uses", () => {
  const used = new Set(
    files.flatMap((file) =>
      importsOf(file).map((target) => `${roomOf(file)?.name} --> ${roomOf(target)?.name}`),
    ),
  );
  expect(arrows.filter((arrow) => !used.has(arrow))).toEqual([]);
});

/** What is in a circle of imports, or between two. */
function inCircles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(graph);
  for (let size = 0; size !== left.size;) {
    size = left.size;
    // A circle has neither what imports from nothing that is left, nor what nothing that is left imports.
    for (const [one, imports] of left) if (!imports.some((other) => left.has(other))) left.delete(one);
    const imported = new Set([...left.values()].flat());
    for (const one of left.keys()) if (!imported.has(one)) left.delete(one);
  }
  return [...left.keys()];
}

it("has no arrow up: no room imports from one that is built on it", () => {
  expect(inCircles(new Map(rooms.map(({ name, imports }) => [name, imports.split(" ")])))).toEqual([]);
});

it("has no circle of files, also none by imports of types", () => {
  expect(inCircles(new Map(files.map((file) => [file, importsOf(file)])))).toEqual([]);
  const circle = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b", "d"]],
    ["d", []],
  ]);
  expect(inCircles(circle)).toEqual(["b", "c"]);
});

it("is drawn in docs/internals/architecture.md, arrow for arrow and floor for floor", () => {
  const page = readFileSync("docs/internals/architecture.md", "utf8");
  const [, drawing = ""] = /```mermaid\n([^]*?)```/.exec(page) ?? [];
  const drawn = [...drawing.matchAll(/^ *(\w+) --> (.+)$/gm)].flatMap(([, from = "", to = ""]) =>
    to.split(" & ").map((one) => `${from} --> ${one}`),
  );
  expect(drawn.toSorted()).toEqual(arrows.toSorted());
  const named = [...drawing.matchAll(/^ *(\w+)\["(.+)"\]$/gm)].map(([, name, label]) => [name, label]);
  expect(named).toEqual(rooms.map(({ name, paths }) => [name, paths.join(", ")]));
  const floors = [...page.matchAll(/^\| (\d) +\| `([\w-]+)\/`/gm)].map(
    ([, floor, name]) => `${floor} ${name}`,
  );
  expect(floors.toSorted()).toEqual(
    FLOORS.flatMap((names, floor) => names.split(" ").map((name) => `${floor} ${name}`)).toSorted(),
  );
});

it.each([
  ["src/domain/ids.ts", "src/platform/deadline.ts"],
  ["src/platform/bindings.ts", "src/worker/app.ts"],
  ["src/worker/app.ts", "durable-objects/user-memory/assemble.ts"],
  ["src/worker/rpc/memory.ts", "packages/client/src/cairn.ts"],
  ["durable-objects/user-memory.ts", "src/worker/app.ts"],
  ["durable-objects/user-memory/core/turn.ts", "durable-objects/user-memory/recall/retrievers.ts"],
  ["durable-objects/user-memory/memories/rows.ts", "durable-objects/user-memory/threads/lineage.ts"],
  ["durable-objects/prompt-cache.ts", "durable-objects/user-memory/core/turn.ts"],
  ["packages/client/src/cairn.ts", "src/worker/app.ts"],
  ["packages/client/src/cairn.ts", "packages/adapters/src/keyv.ts"],
  ["packages/adapters/src/keyv.ts", "packages/embed/testing/index.ts"],
  ["packages/importers/src/main.ts", "packages/cli/import.ts"],
  ["packages/console/src/demo/demo-state.ts", "examples/edge-chat/start.js"],
  ["packages/cli/token.ts", "test/call.ts"],
])("refuses that %s imports %s", (file, target) => {
  expect(wrong([file], () => [target])).toEqual([`${file} imports ${target}`]);
});
