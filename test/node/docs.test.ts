// Statements of the documents that the code can confirm.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { errors } from "../../src/domain/errors.ts";
import { limits } from "../../src/domain/limits.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const pages: string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...globSync("docs/**/*.md", { cwd: root }),
];

it("the architecture's table has every folder of a user's object, and no other", () => {
  const rows = read("docs/internals/architecture.md").matchAll(/^\| \d +\| `([a-z-]+)\/`/gm);
  const folders = globSync("*/", { cwd: join(root, "durable-objects/user-memory") });
  expect(Array.from(rows, ([, folder]) => folder).toSorted()).toEqual(folders.toSorted());
});

it("each row of `Where do I change X` names a file, and a symbol that it declares", () => {
  const [, rows = ""] = read("docs/internals/architecture.md").split("\n## Where do I change X\n");
  const places = Array.from(rows.matchAll(/^\| [^|]+ \| `([^`]+)` +\| `(\w+)` +\|$/gm));
  expect(places.length).toBeGreaterThan(30);
  const wrong = places.filter(
    ([, file = "", symbol = ""]) =>
      !new RegExp(`^(?:export )?(?:async )?(?:const|function|class|interface|type) ${symbol}\\b`, "m").test(
        existsSync(join(root, file)) ? read(file) : "",
      ),
  );
  expect(wrong.map(([row]) => row)).toEqual([]);
});

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it.each([...pages, "llms.txt"])(
  "every relative link of %s leads to a file, and to a heading in it",
  (page) => {
    const prose = read(page).replaceAll(/^```[^]*?^```/gm, "");
    const broken = Array.from(prose.matchAll(/\]\(([^)]+)\)/g), ([, link = ""]) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = "", anchor] = link.split("#");
        const file = path === "" ? page : join(dirname(page), path);
        if (!existsSync(join(root, file))) return true;
        return anchor !== undefined && !anchorsOf(read(file)).includes(anchor);
      });
    expect(broken).toEqual([]);
  },
);

it("every path of the code that a page names is there", () => {
  const missing = pages.flatMap((page) =>
    Array.from(
      read(page).matchAll(/`((?:src|durable-objects|test|scripts|migrations|evals|bench)\/[\w./-]*)`/g),
      ([, path = ""]) => path,
    )
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

it("llms.txt lists every page of the documents, each with a line about it", () => {
  const llms = read("llms.txt");
  expect(llms).toMatch(/^# Cairn\n\n> .+\n/);
  const listed = Array.from(llms.matchAll(/^- \[.+\]\((.+)\): \S.*$/gm), ([, link]) => link);
  expect(listed.toSorted()).toEqual(pages.toSorted());
});

it("the index leads to every page in one click, and to an adapter's in two", () => {
  const linked = Array.from(
    read("docs/README.md").matchAll(/\]\(([\w/-]+\.md)\)/g),
    ([, link = ""]) => `docs/${link}`,
  );
  const away = pages.filter(
    (page) =>
      page.startsWith("docs/") && page !== "docs/README.md" && !/^docs\/adapters\/[a-z-]+\.md$/.test(page),
  );
  expect(linked.toSorted()).toEqual(away.toSorted());
});

/** The cells of a table's rows that begin with a name in backticks. */
const rowsOf = (page: string): string[][] =>
  Array.from(read(page).matchAll(/^\| `.*$/gm), ([row]) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );

const UNITS: Record<string, number> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  characters: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  years: 365 * 86_400_000,
};

it("the reference has every limit with its value, and no other", () => {
  const said = rowsOf("docs/reference/limits.md").map(([name = "", value = ""]) => [
    name,
    value
      .split(" + ")
      .map((part) => part.split(" "))
      .reduce(
        (sum, [number = "", unit = "B"]) => sum + Number(number.replaceAll(",", "")) * (UNITS[unit] ?? NaN),
        0,
      ),
  ]);
  expect(Object.fromEntries(said)).toEqual(limits);
  expect(said.length).toBe(Object.keys(limits).length);
});

it("the codes of limits are errors", () => {
  const codes = rowsOf("docs/reference/limits.md").flatMap(
    ([, , where = ""]) => /; (\w+)$/.exec(where)?.[1] ?? [],
  );
  expect(codes.length).toBeGreaterThan(20);
  expect(codes.filter((code) => !(code in errors))).toEqual([]);
});

it("the reference has every error with its status, and no other", () => {
  const said = rowsOf("docs/reference/errors.md").map(([code = "", status]) => `${code} ${status}`);
  const known = Object.entries(errors).map(([code, [status]]) => `${code} ${status}`);
  expect(said.toSorted()).toEqual(known.toSorted());
});

it("the reference has every variable that the Worker and the commands read", () => {
  const worker = [
    "src/platform/bindings.ts",
    "src/platform/recall-settings.ts",
    "src/platform/quotas.ts",
    "src/platform/embeddings/embedders-from-bindings.ts",
    "src/worker/auth/login-settings.ts",
  ].flatMap((file) =>
    Array.from(read(file).matchAll(/^\s+([A-Z][A-Z_]{3,})\??: /gm), ([, name = ""]) => name),
  );
  const commands = globSync("packages/{cli,console,dev,lab,tenant}/**/*.ts", {
    cwd: root,
    // The variables of Cairn's peers are not Cairn's.
    exclude: ["packages/lab/peers/**"],
  }).flatMap((file) =>
    Array.from(read(file).matchAll(/process\.env(?:\.|\[")([A-Z_]+)/g), ([, name = ""]) => name),
  );
  expect(worker).toContain("EMBEDDINGS_URL");
  expect(commands).toContain("PORT");
  const settings = read("docs/reference/settings.md");
  expect([...new Set([...worker, ...commands])].filter((name) => !settings.includes(`\`${name}\``))).toEqual(
    [],
  );
});

it("the code logs every message that the page of log messages explains", () => {
  const code = globSync("{src,durable-objects}/**/*.ts", { cwd: root }).map(read).join("\n");
  const [table = ""] = /^\| `message`[^]*?\n\n/m.exec(read("docs/reference/logs.md")) ?? [];
  const messages = table
    .split("\n")
    .slice(2)
    .flatMap((row) =>
      Array.from((row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g), ([, message = ""]) => message),
    );
  expect(messages).toContain("request failed");
  expect(messages.filter((message) => !code.includes(`"${message}"`))).toEqual([]);
});

it("what the free plan is said to allow follows from the rows of a call", () => {
  const costs = read("docs/reference/costs.md");
  const cell = (row: string, column: number): number => {
    const line = costs.split("\n").find((one) => one.startsWith(`| ${row} `)) ?? "";
    const text = line.split("|").at(column) ?? "";
    return Number(text.replaceAll(/[^\d]/g, ""));
  };
  const [, messages, memories] =
    /^\| 100,000 rows written in objects .*some ([\d,]+) messages.*or ([\d,]+) memories/m.exec(costs) ?? [];
  const [, recalls] = /^\| 5 million rows read .*some ([\d,]+) recalls/m.exec(costs) ?? [];
  const about = (said: string | undefined, most: number) => {
    const number = Number(said?.replaceAll(",", ""));
    expect(Math.abs(number / most - 1), `${said} of ${most}`).toBeLessThan(0.05);
  };
  about(messages, (2 * 100_000) / cell("an append of two messages", 2));
  about(memories, 100_000 / cell("a memory", 2));
  about(recalls, 5_000_000 / cell("a recall among 2,000 documents", 3));
});

it.each([
  ["with Workers AI", 3],
  ["with the model in the Worker", 4],
])("what the cost table sums up %s is what it says", (name, column) => {
  const costs = read("docs/reference/costs.md");
  const rows =
    /\| {5,}\| a month[^]*?\n\n/
      .exec(costs)?.[0]
      .split("\n")
      .map((row) => row.split("|").map((one) => one.trim())) ?? [];
  expect(rows[0]?.[column]).toBe(name);
  const cents = (row: readonly string[] = []) =>
    Math.round(100 * Number(/\$([\d.]+)/.exec(row[column] ?? "")?.[1] ?? 0));
  const without = rows.findIndex(([, what]) => what === "**without Vectorize**");
  const sum = (parts: readonly (readonly string[])[]) => parts.reduce((all, row) => all + cents(row), 0);
  expect(without).toBeGreaterThan(5);
  expect(cents(rows[without])).toBe(sum(rows.slice(0, without)));
  expect(cents(rows[without + 2])).toBe(cents(rows[without]) + cents(rows[without + 1]));
});
