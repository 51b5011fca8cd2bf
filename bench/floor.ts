// The floor that Cairn is measured against: the same SQL behind the same paths, and nothing else. No framework, no
// token, no validation, no limits, no error is answered well. Never deploy it.
import { DurableObject } from "cloudflare:workers";

type Env = { OBJECT: DurableObjectNamespace<Floor> };
type EntryRow = {
  key: string;
  value: ArrayBuffer;
  version: string;
  updated_at: number;
  expires_at: number | null;
};
type MessageRow = { position: number; body: ArrayBuffer; created_at: number };

const SLOTS = 2 ** 31;
const decoder = new TextDecoder();

export class Floor extends DurableObject<Env> {
  readonly #sql = this.ctx.storage.sql;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS entries (
        key TEXT PRIMARY KEY, value BLOB NOT NULL, version TEXT NOT NULL, updated_at INTEGER NOT NULL, expires_at INTEGER
      );
      CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
      CREATE TABLE IF NOT EXISTS threads (
        n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, length INTEGER NOT NULL DEFAULT 0,
        last_seq INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL
      );
      CREATE INDEX IF NOT EXISTS threads_by_update ON threads (updated_at DESC, n);
      CREATE TABLE IF NOT EXISTS messages (
        position INTEGER PRIMARY KEY, body BLOB NOT NULL, created_at INTEGER NOT NULL
      );
      CREATE TABLE IF NOT EXISTS documents (
        n INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, record TEXT NOT NULL, created_at INTEGER NOT NULL
      );
      CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
        text, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
      );
      CREATE TABLE IF NOT EXISTS unembedded (n INTEGER PRIMARY KEY);
    `);
  }

  get(key: string): ArrayBuffer | undefined {
    return this.#sql
      .exec<EntryRow>(
        "SELECT * FROM entries WHERE key = ? AND (expires_at IS NULL OR expires_at >= ?)",
        key,
        Date.now(),
      )
      .toArray()[0]?.value;
  }

  put(key: string, value: ArrayBuffer): string {
    const version = crypto.randomUUID();
    this.#sql.exec(
      `INSERT INTO entries (key, value, version, updated_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (key) DO UPDATE SET value = ?2, version = ?3, updated_at = ?4, expires_at = ?5`,
      key,
      value,
      version,
      Date.now(),
      null,
    );
    return version;
  }

  /** A page as JSON: one string crosses to the Worker, which is the cheapest way there is. */
  list(prefix: string, limit: number): string {
    const rows = this.#sql.exec<EntryRow>(
      `SELECT key, x'' AS value, version, updated_at, expires_at FROM entries
       WHERE key >= ?1 AND (expires_at IS NULL OR expires_at >= ?2) ORDER BY key`,
      prefix,
      Date.now(),
    );
    const items: unknown[] = [];
    for (const { key, version, updated_at: updatedAt } of rows) {
      if (!key.startsWith(prefix) || items.length === limit) break;
      items.push({ key, version, updatedAt });
    }
    return JSON.stringify({ items });
  }

  createThread(id: string): void {
    this.#sql.exec("INSERT INTO threads (id, updated_at) VALUES (?, ?)", id, Date.now());
  }

  append(id: string, messages: { role: string; content: string }[]): { length: number } {
    const now = Date.now();
    return this.ctx.storage.transactionSync(() => {
      const { n } = this.#sql.exec<{ n: number }>("SELECT * FROM threads WHERE id = ?", id).one();
      const thread = this.#sql
        .exec<{ length: number; last_seq: number }>(
          `UPDATE threads SET length = length + ?2, last_seq = last_seq + ?2, updated_at = MAX(updated_at, ?3)
           WHERE n = ?1 RETURNING length, last_seq`,
          n,
          messages.length,
          now,
        )
        .one();
      let position = n * SLOTS + thread.last_seq - messages.length;
      for (const message of messages) {
        position++;
        const body = new TextEncoder().encode(JSON.stringify(message));
        this.#sql.exec(
          "INSERT INTO messages (position, body, created_at) VALUES (?, ?, ?)",
          position,
          body,
          now,
        );
        this.#sql.exec(
          "INSERT INTO documents (n, kind, text, record, created_at) VALUES (?, ?, ?, ?, ?)",
          position,
          "message",
          message.content,
          JSON.stringify({ role: message.role }),
          now,
        );
        this.#sql.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", position, message.content);
        this.#sql.exec("INSERT INTO unembedded (n) VALUES (?)", position);
      }
      return { length: thread.length };
    });
  }

  /** The last messages as JSON, in the order of the conversation. */
  load(id: string, limit: number): string {
    const { n } = this.#sql.exec<{ n: number }>("SELECT * FROM threads WHERE id = ?", id).one();
    const rows = this.#sql.exec<MessageRow>(
      `SELECT position, body, created_at FROM messages WHERE position > ? AND position < ? ORDER BY position DESC`,
      n * SLOTS,
      n * SLOTS + SLOTS,
    );
    const items: string[] = [];
    for (const { position, body, created_at: createdAt } of rows) {
      if (items.length === limit) break;
      items.push(`{"seq":${position % SLOTS},"message":${decoder.decode(body)},"createdAt":${createdAt}}`);
    }
    return `{"items":[${items.toReversed().join(",")}]}`;
  }
}

const asJson = { headers: { "Content-Type": "application/json" } };

/** Cairn's paths, taken apart by hand. */
export default {
  async fetch(request, { OBJECT }) {
    const { pathname, searchParams } = new URL(request.url);
    const [, , kind, name = "", what, key] = pathname.split("/").map(decodeURIComponent);
    if (kind === "cache") {
      const shard = OBJECT.getByName("cache");
      if (request.method === "GET") return new Response(await shard.get(name), asJson);
      return Response.json({ version: await shard.put(name, await request.arrayBuffer()) });
    }
    if (kind === "users") {
      const object = OBJECT.getByName(name);
      if (what === "threads") {
        const id = `${name}.${crypto.randomUUID()}`;
        await object.createThread(id);
        return Response.json({ id }, { status: 201 });
      }
      if (key === undefined)
        return new Response(
          await object.list(searchParams.get("prefix") ?? "", Number(searchParams.get("limit"))),
          asJson,
        );
      if (request.method === "GET") return new Response(await object.get(key), asJson);
      return Response.json({ version: await object.put(key, await request.arrayBuffer()) });
    }
    const object = OBJECT.getByName(name.split(".")[0] ?? "");
    if (request.method === "GET")
      return new Response(await object.load(name, Number(searchParams.get("limit"))), asJson);
    const { messages } = await request.json<{ messages: { role: string; content: string }[] }>();
    return Response.json(await object.append(name, messages), { status: 201 });
  },
} satisfies ExportedHandler<Env>;
