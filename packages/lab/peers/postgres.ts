// PostgreSQL with one table of each kind, and PGlite, which is PostgreSQL in WebAssembly, with the same statements.
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { join } from "node:path";
import { inLanes } from "../bench/load.ts";
import { key, message, value } from "../bench/operations.ts";
import { DIMENSIONS, embed } from "./embed.ts";
import {
  ENTRIES,
  HITS,
  memoryText,
  PAGE,
  type Peer,
  pgvectorHint,
  queryText,
  recalls,
  type Started,
  temporaryFolder,
  THREAD,
} from "./peer.ts";
import { missingPostgres, startPostgres } from "./postgres-server.ts";

export const postgres: Peer = {
  name: "PostgreSQL",
  missing: missingPostgres,
  start: async (memories) => {
    const { pool, hasPgvector, stop } = await startPostgres();
    // A statement with a name is planned once a connection.
    const names = new Map<string, string>();
    const query: Query = async (text, values) => {
      const name = names.get(text) ?? `statement ${names.size}`;
      names.set(text, name);
      return (await pool.query<Row>({ name, text, values })).rows;
    };
    return {
      lacks: `${hasPgvector ? "" : "no vectors, as pgvector is not installed; "}no token, no validation, no limits`,
      ...(!hasPgvector && { hint: `PostgreSQL recalls by words only. ${pgvectorHint}` }),
      operations: await prepared(query, memories, hasPgvector),
      stop,
    };
  },
};

export const pglite: Peer = {
  name: "PGlite with pgvector (WASM)",
  start: async (memories) => {
    const database = await PGlite.create({
      dataDir: join(temporaryFolder(), "data"),
      extensions: { vector },
    });
    const query: Query = async (text, values) => (await database.query<Row>(text, values)).rows;
    return {
      lacks:
        "in the caller's process: no network, one statement at a time; no token, no validation, no limits",
      operations: await prepared(query, memories, true),
      stop: () => database.close(),
    };
  },
};

type Row = Record<string, unknown>;
type Query = (text: string, values?: unknown[]) => Promise<Row[]>;

const BATCH = 500;
/** Candidates of each arm, and the constant of the reciprocal rank fusion. */
const [CANDIDATES, K] = [40, 60];

async function prepared(
  query: Query,
  memories: readonly number[],
  hasVectors: boolean,
): Promise<Started["operations"]> {
  await query(`CREATE TABLE messages (thread text, seq bigint GENERATED ALWAYS AS IDENTITY, role text NOT NULL,
    content text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (thread, seq))`);
  await query(`CREATE TABLE entries (owner text, key text, value text NOT NULL, PRIMARY KEY (owner, key))`);
  if (hasVectors) await query("CREATE EXTENSION vector");
  const append = (thread: string, i: number) => {
    const { role, content } = message(i);
    return query("INSERT INTO messages (thread, role, content) VALUES ($1, $2, $3)", [thread, role, content]);
  };
  const put = (owner: string, i: number) =>
    query(
      `INSERT INTO entries (owner, key, value) VALUES ($1, $2, $3)
       ON CONFLICT (owner, key) DO UPDATE SET value = excluded.value`,
      [owner, key(i % ENTRIES), value(i)],
    );
  await inLanes((i) => append("thread", i), { ms: 60_000, calls: THREAD });
  await inLanes((i) => put("read", i), { ms: 60_000, calls: ENTRIES });
  const remembered = await newMemories(query, "memories", hasVectors);
  await remembered.index();
  let written = 0;
  return {
    "append of one message": (i) => append("growing", i),
    "last 50 of 1,000": async () =>
      (
        await query(`SELECT * FROM messages WHERE thread = $1 ORDER BY seq DESC LIMIT ${PAGE}`, ["thread"])
      ).toReversed(),
    "KV put": (i) => put("put", i),
    "KV get": (i) =>
      query("SELECT value FROM entries WHERE owner = $1 AND key = $2", ["read", key(i % ENTRIES)]),
    "list 50 of 1,000": (i) => {
      const prefix = `group-${i % (ENTRIES / PAGE)}/`;
      return query(
        `SELECT key, value FROM entries WHERE owner = $1 AND key >= $2 AND key < $3 ORDER BY key LIMIT ${PAGE}`,
        ["read", prefix, `${prefix}\u{10ffff}`],
      );
    },
    "remember one": () => remembered.insert([memoryText(written++)]),
    ...(await recalls(memories, async (size, isLate) => {
      const { insert, index, recall } = await newMemories(query, `memories_${size}`, hasVectors);
      for (let from = 0; from < size && !isLate(from); from += BATCH)
        await insert(Array.from({ length: Math.min(BATCH, size - from) }, (_, i) => memoryText(from + i)));
      if (!isLate(size)) await index();
      return recall;
    })),
  };
}

/** A table of one user's memories. `index`: of their words and, with pgvector, of their vectors; quicker once it is full. */
async function newMemories(query: Query, table: string, hasVectors: boolean) {
  await query(`CREATE TABLE ${table} (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, text text NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED
    ${hasVectors ? `, embedding vector(${DIMENSIONS}) NOT NULL` : ""})`);
  const byWords = `SELECT id, row_number() OVER (ORDER BY ts_rank_cd(words, query) DESC) AS rank
    FROM ${table}, to_tsquery('english', $1) AS query WHERE words @@ query ORDER BY rank LIMIT ${CANDIDATES}`;
  const byMeaning = `SELECT id, row_number() OVER (ORDER BY distance) AS rank FROM
    (SELECT id, embedding <=> $2::vector AS distance FROM ${table} ORDER BY embedding <=> $2::vector LIMIT ${CANDIDATES})
    AS nearest`;
  const search = hasVectors
    ? `WITH by_words AS (${byWords}), by_meaning AS (${byMeaning})
       SELECT id, text, coalesce(1.0 / (${K} + by_words.rank), 0) + coalesce(1.0 / (${K} + by_meaning.rank), 0) AS score
       FROM by_words FULL JOIN by_meaning USING (id) JOIN ${table} USING (id) ORDER BY score DESC LIMIT ${HITS}`
    : `WITH by_words AS (${byWords})
       SELECT id, text, rank FROM by_words JOIN ${table} USING (id) ORDER BY rank LIMIT ${HITS}`;
  return {
    index: async () => {
      await query(`CREATE INDEX ON ${table} USING gin (words)`);
      if (hasVectors) await query(`CREATE INDEX ON ${table} USING hnsw (embedding vector_cosine_ops)`);
      await query(`ANALYZE ${table}`);
    },
    insert: (texts: string[]) =>
      hasVectors
        ? query(
            `INSERT INTO ${table} (text, embedding) SELECT * FROM unnest($1::text[], $2::text[]::vector[])`,
            [texts, texts.map((text) => JSON.stringify(embed(text)))],
          )
        : query(`INSERT INTO ${table} (text) SELECT * FROM unnest($1::text[])`, [texts]),
    recall: (i: number) => {
      const text = queryText(i);
      const words = text.split(" ").join(" | ");
      return query(search, hasVectors ? [words, JSON.stringify(embed(text))] : [words]);
    },
  };
}
