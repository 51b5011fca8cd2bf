// The floor that Cairn is measured against: the same statements over the same tables behind the same paths, and nothing
// else. No framework, no token, no validation, no limits, no error is answered well. Never deploy it.
import { DurableObject } from "cloudflare:workers";

type Env = {
  OBJECT: DurableObjectNamespace<Floor>;
  DB: D1Database;
  /** The tables and indexes of Cairn's object. */
  SCHEMA: string;
};
type EntryRow = {
  key: string;
  value: ArrayBuffer;
  version: string;
  updated_at: number;
  expires_at: number | null;
};

const SLOTS = 2 ** 31;
/** As in Cairn: when the catalogue hears of appended messages, and the bytes of a vector and of word pieces. */
const TOUCH_AFTER_MS = 60_000;
const [VECTOR, PIECES] = [new Uint8Array(260), new Uint8Array(40)];
const decoder = new TextDecoder();

export class Floor extends DurableObject<Env> {
  readonly #sql = this.ctx.storage.sql;
  #alarmAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const [made] = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'entries'").toArray();
    if (made === undefined) this.#sql.exec(env.SCHEMA);
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = await ctx.storage.getAlarm();
    });
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
      `INSERT INTO entries (key, value, version, updated_at, expires_at, refresh_ms)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (key) DO UPDATE SET
         value = ?2, version = ?3, updated_at = ?4, expires_at = ?5, refresh_ms = ?6`,
      key,
      value,
      version,
      Date.now(),
      null,
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
    const now = Date.now();
    this.#sql.exec(
      `INSERT INTO threads (id, title, length, last_seq, created_at, updated_at)
       VALUES (?, 'New conversation', 0, 0, ?, ?)`,
      id,
      now,
      now,
    );
  }

  append(id: string, messages: { role: string; content: string }[]): { length: number } {
    const now = Date.now();
    return this.ctx.storage.transactionSync(() => {
      const { n } = this.#sql
        .exec<{ n: number }>("SELECT * FROM threads WHERE id = ? AND deleted = 0", id)
        .one();
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
          "INSERT INTO messages (position, created_at, role, body) VALUES (?, ?, 'user', ?)",
          position,
          now,
          body,
        );
        this.#sql.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", position, message.content);
        this.#sql.exec(
          "INSERT INTO vectors (n, model, vector, pieces) VALUES (?, 1, ?, ?)",
          position,
          VECTOR,
          PIECES,
        );
      }
      this.#sql.exec(
        `INSERT INTO catalogue_changes (thread_id, due_at) VALUES (?1, ?2)
         ON CONFLICT (thread_id) DO UPDATE SET version = version + 1 WHERE ?3`,
        id,
        now + TOUCH_AFTER_MS,
        0,
      );
      this.#wakeBy(now + TOUCH_AFTER_MS);
      return { length: thread.length };
    });
  }

  /** The alarm's work after an append, without the write to D1. */
  override alarm(): void {
    this.#alarmAt = null;
    this.#sql.exec("DELETE FROM catalogue_changes WHERE due_at <= ?", Date.now());
  }

  /** The least work of a recall: the texts of the best ten by their words. */
  search(words: string): string {
    const hits = this.#sql
      .exec(
        `SELECT version, memories.text, -bm25(words) AS score FROM words JOIN memories ON version = words.rowid
         WHERE words MATCH ? ORDER BY score DESC LIMIT 10`,
        words,
      )
      .toArray();
    return JSON.stringify({ hits });
  }

  /** The least cost of any call of an object. */
  hop(): string {
    return "";
  }

  remember(texts: readonly string[]): void {
    this.ctx.storage.transactionSync(() => {
      for (const text of texts) {
        const { n } = this.#sql
          .exec<{ n: number }>(
            `INSERT INTO memories
               (user_hash, id, user_id, kind, status, text, tags, trust, dedupe_key, created_at, updated_at, valid_from, recorded_at)
             VALUES ('', '', '', 'fact', 'active', ?, '[]', 'user', '', 0, 0, 0, 0) RETURNING version AS n`,
            text,
          )
          .one();
        this.#sql.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", n, text);
      }
    });
  }

  #wakeBy(time: number): void {
    if (this.#alarmAt !== null && this.#alarmAt <= time) return;
    this.#alarmAt = time;
    void this.ctx.storage.setAlarm(time);
  }

  /** The last messages as JSON, in the order of the conversation. */
  load(id: string, limit: number): string {
    const { n } = this.#sql
      .exec<{ n: number }>("SELECT * FROM threads WHERE id = ? AND deleted = 0", id)
      .one();
    const hidden = this.#sql.exec("SELECT seq FROM hidden_messages WHERE thread = ?", n).toArray();
    const rows = this.#sql
      .exec(
        "SELECT position, body, created_at FROM messages WHERE position BETWEEN ? AND ? ORDER BY position DESC",
        n * SLOTS + 1,
        n * SLOTS + SLOTS - 1,
      )
      .raw<[number, ArrayBuffer, number]>();
    const items: string[] = [];
    for (const [position, body, createdAt] of rows) {
      if (items.length === limit) break;
      if (hidden.length === 0)
        items.push(`{"seq":${position % SLOTS},"message":${decoder.decode(body)},"createdAt":${createdAt}}`);
    }
    return `{"items":[${items.toReversed().join(",")}]}`;
  }
}

const asJson = { headers: { "Content-Type": "application/json" } };

const ROW = `'fact', 'active', value ->> '$.text', '[]', 'user', value ->> '$.text', ?2, ?2, ?2, ?2`;

/** The bare statements on D1: what is remembered is inserted, all of a call by one statement. */
async function memories(database: D1Database, request: Request, user: string): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (request.method === "GET") {
    const { results } = await database
      .prepare(
        `SELECT * FROM memories WHERE user_hash = ? AND corrected_at IS NULL
         ORDER BY created_at DESC, id DESC LIMIT ?`,
      )
      .bind(user, Number(searchParams.get("limit")))
      .all();
    return Response.json({ items: results });
  }
  const body = await request.json<{ text?: string; memories?: unknown[] }>();
  const rows = pathname.endsWith("/batch") ? (body.memories ?? []) : [body];
  await database
    .prepare(
      `INSERT INTO memories (user_hash, id, version, user_id, kind, status, text, tags, trust, dedupe_key, created_at, updated_at,
         valid_from, recorded_at)
       SELECT ?1, hex(randomblob(16)), 1, ?1, ${ROW} FROM json_each(?3)`,
    )
    .bind(user, Date.now(), JSON.stringify(rows))
    .run();
  return Response.json({ items: rows }, { status: pathname.endsWith("/batch") ? 200 : 201 });
}

/** Cairn's paths, taken apart by hand. */
export default {
  async fetch(request, { OBJECT, DB }) {
    const { pathname, searchParams } = new URL(request.url);
    const [, , kind, name = "", what, key] = pathname.split("/").map(decodeURIComponent);
    if (kind === "cache") {
      // As many objects as Cairn has for these: one that is asked all the time is kept nearer by the machine.
      const shard = OBJECT.getByName(`cache-${Number(name.split("-")[1]) % 64}`);
      if (request.method === "GET") return new Response(await shard.get(name), asJson);
      return Response.json({ version: await shard.put(name, await request.arrayBuffer()) });
    }
    if (kind === "users" && what === "hop") return new Response(await OBJECT.getByName(name).hop());
    if (kind === "users" && (what === "recall" || what === "context")) {
      const { query } = await request.json<{ query: string }>();
      const words = query.toLowerCase().match(/[a-z]+/g) ?? [];
      return new Response(
        await OBJECT.getByName(name).search(words.map((word) => `"${word}"`).join(" OR ")),
        asJson,
      );
    }
    // Those who recall keep what they remember in their object, and all others in D1.
    if (kind === "users" && what === "memories" && name.startsWith("recaller-")) {
      const { memories: given } = await request.json<{ memories: { text: string }[] }>();
      await OBJECT.getByName(name).remember(given.map(({ text }) => text));
      return Response.json({ items: given });
    }
    if (kind === "users" && what === "memories") return memories(DB, request, name);
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
