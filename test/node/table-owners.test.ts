// Each table of an object has one owner: the one file with SQL that reads or writes it. Others ask it, or use SQL that it exports.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const texts = globSync("durable-objects/**/*.ts", { cwd: root }).map(
  (file) => [file, readFileSync(join(root, file), "utf8")] as const,
);

const NO_OWNERS = [
  // Creates the tables, with triggers that count the rows of one table in another.
  "durable-objects/user-memory/schema.ts",
  // Takes all tables of a user's away as they are, and overwrites their pages.
  "durable-objects/user-memory/erasure/erased-tables.ts",
];

const tables = new Set(
  texts.flatMap(([, text]) =>
    Array.from(text.matchAll(/CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)/g), ([, name = ""]) => name),
  ),
);

it("one file has the SQL of each table of an object", () => {
  expect(tables).toContain("hidden_messages");
  const owners = Array.from(tables, (table): [string, string[]] => {
    const statement = new RegExp(`\\b(FROM|JOIN|INTO|UPDATE) ${table}\\b`);
    const files = texts.filter(([file, text]) => !NO_OWNERS.includes(file) && statement.test(text));
    return [table, files.map(([file]) => file)];
  });
  expect(Object.fromEntries(owners.filter(([, files]) => files.length !== 1))).toEqual({});
});
