import type { Call, Client } from "./load.ts";
import type { Operation } from "./operations.ts";

const BATCH = 500;
const PAGE = 50;
/** Users who write at the same time: one user's writes are done one after another. */
const WRITERS = 16;
/** Rows that one statement fills in. */
const SLICE = 100_000;

const post = (path: string, body: object, status: number): Call => ({
  method: "POST",
  path,
  body: JSON.stringify(body),
  status,
});
const text = (i: number): string =>
  `Note ${i}: the ferry to the island leaves at ${i % 24} o'clock, seats go fast.`;
const memoriesOf = (user: string): string => `/v1/users/${user}/memories`;

let written = 0;
/** Texts that no call had before: the same text would be the same memory. */
const next = (): { text: string } => ({ text: text(written++) });

/** Fills one server's D1 with the memories of others, and answers the operations on memories. */
export async function prepareMemories(client: Client, others: number): Promise<Operation[]> {
  await fill(client, others);
  await client.call(
    post(`${memoriesOf("lister")}/batch`, { memories: Array.from({ length: 200 }, next) }, 200),
  );
  const holds = (count: number) => (answer: string) =>
    (JSON.parse(answer) as { items: unknown[] }).items.length === count;
  return [
    {
      name: "remember one",
      next: (i) => post(memoriesOf(`writer-${i % WRITERS}`), next(), 201),
      check: (answer) => answer.startsWith("{"),
      settles: true,
    },
    {
      name: `remember ${BATCH}`,
      next: (i) =>
        post(
          `${memoriesOf(`batcher-${i % WRITERS}`)}/batch`,
          { memories: Array.from({ length: BATCH }, next) },
          200,
        ),
      check: holds(BATCH),
      settles: true,
    },
    {
      name: `list ${PAGE} memories among ${others.toLocaleString("en-US")} of others`,
      next: () => ({ method: "GET", path: `${memoriesOf("lister")}?limit=${PAGE}`, status: 200 }),
      check: holds(PAGE),
    },
  ];
}

/** Straight into D1: a million memories by calls would take the better part of an hour. */
async function fill({ server }: Client, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += SLICE)
    await server.database
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.min(from + SLICE, rows) - 1})
         INSERT INTO memories (user_hash, id, version, user_id, kind, status, text, tags, dedupe_key, created_at, updated_at,
           valid_from, recorded_at)
         SELECT printf('other-%016d', i / 1000), printf('memory-%d', i), i % 1000 + 1, printf('other %d', i / 1000), 'fact',
           'active', printf('Note %d of another user, about this and that', i), '[]', printf('text %d', i), i, i, i, i FROM n`,
      )
      .run();
}
