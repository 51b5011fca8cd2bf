// An Agent as its documentation shows one: messages and entries are rows of its own SQLite.
import { Agent, routeAgentRequest } from "agents";

type Env = { Memory: DurableObjectNamespace<Memory> };

export class Memory extends Agent<Env> {
  override onStart(): void {
    void this.sql`CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, role TEXT, content TEXT, created_at INTEGER)`;
    void this.sql`CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID`;
  }

  override async onRequest(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const what = pathname.slice(pathname.lastIndexOf("/") + 1);
    const key = searchParams.get("key");
    if (what === "messages" && request.method === "POST") {
      const { role, content } = await request.json<{ role: string; content: string }>();
      void this.sql`INSERT INTO messages (role, content, created_at) VALUES (${role}, ${content}, ${Date.now()})`;
      return new Response(null, { status: 204 });
    }
    if (what === "messages")
      return Response.json(this.sql`SELECT * FROM messages ORDER BY seq DESC LIMIT 50`.toReversed());
    if (request.method === "PUT") {
      void this.sql`INSERT INTO entries (key, value) VALUES (${key}, ${await request.text()})
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
      return new Response(null, { status: 204 });
    }
    if (key === null) {
      const prefix = searchParams.get("prefix") ?? "";
      return Response.json(
        this.sql`SELECT * FROM entries WHERE key >= ${prefix} AND key < ${`${prefix}\u{10ffff}`} ORDER BY key LIMIT 50`,
      );
    }
    const [row] = this.sql<{ value: string }>`SELECT value FROM entries WHERE key = ${key}`;
    return row === undefined ? new Response(null, { status: 404 }) : new Response(row.value);
  }
}

export default {
  fetch: async (request: Request, env: Env): Promise<Response> =>
    (await routeAgentRequest(request, env)) ?? new Response(null, { status: 404 }),
};
