// What the documents say that the code can be asked for.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const docs = globSync("docs/*.md", { cwd: root }).map(read).join("\n");

it("the architecture's table has every file of a user's object, in its folder, and no other", () => {
  const rows = read("docs/architecture.md").matchAll(/^\| \d +\| `([a-z-]+)\/` +\|[^|]*\|([^|]*)\|$/gm);
  const named = Array.from(rows, ([, folder, files = ""]) =>
    Array.from(files.matchAll(/`([a-z-]+)`/g), ([, file]) => `${folder}/${file}.ts`),
  ).flat();
  const files = globSync("*/*.ts", { cwd: join(root, "durable-objects/user-memory") });
  expect(named.toSorted()).toEqual(files.toSorted());
});

it("the documents name every variable that a deployment may set", () => {
  const settings = [
    "src/platform/bindings.ts",
    "src/platform/recall-settings.ts",
    "src/platform/quotas.ts",
    "src/worker/auth/login-settings.ts",
  ];
  const variables = settings.flatMap((file) =>
    Array.from(read(file).matchAll(/^\s+([A-Z][A-Z_]{3,})\??: /gm), ([, name]) => name ?? ""),
  );
  expect(variables).toContain("JURISDICTION");
  expect([...new Set(variables)].filter((name) => !docs.includes(name))).toEqual([]);
});

it("what the free plan is said to allow follows from the rows of a call", () => {
  const deploy = read("docs/deploy.md");
  const cell = (row: string, column: number): number => {
    const line = deploy.split("\n").find((one) => one.startsWith(`| ${row} `)) ?? "";
    const text = line.split("|").at(column) ?? "";
    return Number(text.replaceAll(/[^\d]/g, ""));
  };
  const [, messages, memories] =
    /^\| 100,000 rows written in objects .*some ([\d,]+) messages.*or ([\d,]+) memories/m.exec(deploy) ?? [];
  const [, recalls] = /^\| 5 million rows read .*some ([\d,]+) recalls/m.exec(deploy) ?? [];
  const about = (said: string | undefined, most: number) => {
    const number = Number(said?.replaceAll(",", ""));
    expect(Math.abs(number / most - 1), `${said} of ${most}`).toBeLessThan(0.05);
  };
  about(messages, (2 * 100_000) / cell("an append of two messages", 2));
  about(memories, 100_000 / cell("a memory", 2));
  about(recalls, 5_000_000 / cell("a recall among 2,000 documents", 3));
});

it("what the cost table sums up is what it says", () => {
  const deploy = read("docs/deploy.md");
  const rows = /\| requests {2,}\| 32[^]*?\n\n/.exec(deploy)?.[0].split("\n") ?? [];
  const dollars = (row: string) => Math.round(100 * Number(/\$([\d.]+)\**\s*\|$/.exec(row)?.[1] ?? 0));
  const without = rows.findIndex((row) => row.includes("without Vectorize"));
  const sum = (parts: readonly string[]) => parts.reduce((cents, row) => cents + dollars(row), 0);
  expect(without).toBeGreaterThan(5);
  expect(dollars(rows[without] ?? "")).toBe(sum(rows.slice(0, without)));
  const [, vectorize = "", all = ""] = rows.slice(without);
  expect(dollars(all)).toBe(dollars(rows[without] ?? "") + dollars(vectorize));
});
