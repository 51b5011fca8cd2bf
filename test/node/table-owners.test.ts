// Each table has one owner: the one file with SQL that reads or writes it. Others ask it, or use SQL that it exports. A table
// with several kinds of readers has a file for each; the owner alone writes.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

type Text = readonly [file: string, text: string];
const textsOf = (glob: string): Text[] =>
  globSync(glob, { cwd: root }).map((file) => [file, readFileSync(join(root, file), "utf8")]);

const NO_OWNERS = [
  // Creates the tables, with triggers that count the rows of one table in another.
  "durable-objects/user-memory/schema.ts",
  // Takes all tables of a user's away as they are, and overwrites their pages.
  "durable-objects/user-memory/erasure/erased-tables.ts",
  // Conditions on `memories` for the owner of D1's table and for the owner of an object's. It runs no statement.
  "src/platform/d1/memory-filter.ts",
];

/** Files that read a table for readers of their own. They change nothing in it. */
const READERS: ReadonlySet<string> = new Set(
  [
    "memories memories/aged-memories",
    "memories memories/due-memories",
    "memories memories/memory-documents",
    "memories memories/summaries",
    "messages threads/aged-messages",
    "messages threads/message-documents",
    "entries restore/lost-since",
    "memories restore/lost-since",
    "messages restore/lost-since",
    "threads restore/lost-since",
    "threads threads/aged-messages",
    "threads threads/thread-forks",
    "threads threads/thread-lists",
  ].map((one) => one.replace(" ", " durable-objects/user-memory/").concat(".ts")),
);

const createdIn = (texts: readonly Text[]): Set<string> =>
  new Set(
    texts.flatMap(([, text]) =>
      Array.from(
        text.matchAll(/CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)/g),
        ([, name = ""]) => name,
      ),
    ),
  );

/** The tables without exactly one owner, with the files that have SQL on them. */
function unowned(tables: Iterable<string>, texts: readonly Text[], statementOn: (table: string) => RegExp) {
  const owners = Array.from(tables, (table): [string, string[]] => {
    const statement = statementOn(table);
    const changes = new RegExp(`\\b(INTO|UPDATE|DELETE FROM) ${table}\\b`);
    const isReader = (file: string, text: string) =>
      NO_OWNERS.includes(file) || (READERS.has(`${table} ${file}`) && !changes.test(text));
    const files = texts.filter(([file, text]) => !isReader(file, text) && statement.test(text));
    return [table, files.map(([file]) => file)];
  });
  return Object.fromEntries(owners.filter(([, files]) => files.length !== 1));
}

it("one file has the SQL of each table of an object", () => {
  const texts = textsOf("durable-objects/**/*.ts");
  const tables = createdIn(texts);
  expect(tables).toContain("hidden_messages");
  expect(unowned(tables, texts, (table) => new RegExp(`\\b(FROM|JOIN|INTO|UPDATE) ${table}\\b`))).toEqual({});
});

it("one file has the SQL of each table of D1", () => {
  const texts = textsOf("src/**/*.ts");
  const tables = createdIn(textsOf("migrations/*.sql"));
  expect(tables).toContain("memory_writes");
  const inDrizzle = new Map(
    texts.flatMap(([, text]) =>
      Array.from(text.matchAll(/const (\w+) = sqliteTable\(\s*"(\w+)"/g), ([, name, table]) => [table, name]),
    ),
  );
  expect(inDrizzle.get("revoked_tokens")).toBe("revokedTokens");
  const statementOn = (table: string) => {
    const name = inDrizzle.get(table) ?? table;
    const text = `\\b(FROM|JOIN|INTO|UPDATE) (${table}\\b|\\$\\{${name}\\})`;
    const query = `\\b(from|insert|update|delete|\\w+Join)\\(${name}\\b`;
    const removed = `\\b(removal|oldRows)\\(\\s*"${table}"`;
    return new RegExp([text, query, removed].join("|"));
  };
  expect(unowned(tables, texts, statementOn)).toEqual({});
});

it("asks each part with data outside of its tables when an erasure begins", () => {
  const classes = textsOf("durable-objects/**/*.ts").flatMap(([, text]) =>
    Array.from(text.matchAll(/^export class (\w+) [^{]*\bErasable\b/gm), ([, name = ""]) => name),
  );
  const assembly = readFileSync(join(root, "durable-objects/user-memory/assemble/upkeep.ts"), "utf8");
  const [, parts = ""] = /const erasable = \[([^\]]+)\];/.exec(assembly) ?? [];
  const named = parts.split(",").flatMap((part) => /(\w+)\s*$/.exec(part)?.[1] ?? []);
  expect(new Set(named).size).toBe(named.length);
  expect(named).toHaveLength(classes.length);
});
