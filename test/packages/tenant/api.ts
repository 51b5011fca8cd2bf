// A stand-in of Cloudflare's API for the real wrangler: it keeps an account, runs SQL in a local D1, and serves what is
// deployed in workerd. Its paths and answers are those that wrangler 4.156 asks for and reads.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

export const ACCOUNT = "0123456789abcdef0123456789abcdef";
const DATABASE = "12345678-1234-4000-8000-123456789012";

/** A binding of an upload's metadata. */
type Binding = { type: string; name: string; text?: string; class_name?: string; id?: string };
type Metadata = {
  main_module: string;
  compatibility_date: string;
  bindings: Binding[];
  migrations?: { new_tag: string };
};
type Worker = {
  secrets: Record<string, string>;
  metadata: Metadata | null;
  modules: Module[];
  crons: unknown;
};
type Module = { type: "ESModule" | "CompiledWasm"; path: string; contents: Uint8Array };

/** A call that does not get its answer: `lost`: it is carried out; a number: it is refused with this status. */
export type Fault = { method: string; path: RegExp; fails: "lost" | "reset" | 403 | 429 | 504 };

export type Api = {
  url: string;
  /** The address at which the Worker answers; null before it is deployed. */
  workerUrl: () => Promise<string | null>;
  /** The calls, in order: `POST /d1/database`. */
  calls: string[];
  /** Paths that are not known here. */
  unknown: string[];
  databases: { uuid: string; name: string; location: string | null }[];
  workers: Map<string, Worker>;
  fault: Fault | null;
  stop: () => Promise<void>;
};

/** Starts it. `assets` is the folder that the Worker's assets are served from, `state` that of its storage. */
export async function startApi({ assets, state }: { assets: string; state: string }): Promise<Api> {
  const workers = new Map<string, Worker>();
  const databases: Api["databases"] = [];
  let running: { miniflare: Miniflare; of: Metadata | null } | null = null;
  const deployed = () => [...workers.entries()].find(([, { metadata }]) => metadata !== null);

  /** workerd with the database, and with the Worker once it is deployed. */
  async function workerd(): Promise<Miniflare> {
    const [name = "none", worker] = deployed() ?? [];
    const metadata = worker?.metadata ?? null;
    if (running !== null && running.of === metadata) return running.miniflare;
    await running?.miniflare.dispose();
    const bindings = metadata?.bindings ?? [];
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        name,
        modules:
          worker === undefined || metadata === null
            ? [{ type: "ESModule" as const, path: "none.js", contents: "export default {}" }]
            : worker.modules.toSorted((a) => (a.path === metadata.main_module ? -1 : 1)),
        compatibilityDate: metadata?.compatibility_date ?? "2026-11-01",
        resourcePersistencePath: state,
        d1Databases: { DB: DATABASE },
        durableObjects: Object.fromEntries(
          bindings.flatMap(({ type, name: binding, class_name: className = "" }) =>
            type === "durable_object_namespace" ? [[binding, { className, useSQLite: true }]] : [],
          ),
        ),
        ...(metadata !== null && {
          serviceBindings: { ASSETS: { disk: { path: assets, writable: false } } },
        }),
        bindings: {
          ...Object.fromEntries(
            bindings.flatMap(({ type, name: binding, text = "" }) =>
              type === "plain_text" ? [[binding, text]] : [],
            ),
          ),
          ...worker?.secrets,
        },
      }),
    );
    running = { miniflare, of: metadata };
    await miniflare.ready;
    return miniflare;
  }

  const found = (nameOrId: string) =>
    databases.find(({ name, uuid }) => name === nameOrId || uuid === nameOrId);

  async function upload(name: string, request: Request): Promise<object> {
    const form = await request.formData();
    const part = form.get("metadata");
    const text = typeof part === "string" ? part : await part?.text();
    const metadata = JSON.parse(text ?? "") as Metadata;
    const modules: Module[] = [];
    for (const [path, value] of form)
      if (typeof value !== "string" && path !== "metadata" && /\.(?:js|wasm)$/.test(path))
        modules.push({
          type: path.endsWith(".wasm") ? "CompiledWasm" : "ESModule",
          path,
          contents: new Uint8Array(await value.arrayBuffer()),
        });
    const secrets = Object.fromEntries(
      metadata.bindings.flatMap(({ type, name: secret, text: value = "" }) =>
        type === "secret_text" ? [[secret, value]] : [],
      ),
    );
    const known = workers.get(name);
    workers.set(name, {
      secrets: { ...known?.secrets, ...secrets },
      metadata,
      modules,
      crons: known?.crons ?? null,
    });
    return { id: name, etag: "etag", deployment_id: "0123456789abcdef0123456789abcdef", startup_time_ms: 1 };
  }

  /** The answer, or the status and code of a refusal. */
  async function answer(method: string, path: string, request: Request): Promise<unknown> {
    const [, collection, ...rest] = path.split("/");
    const [first = "", second = "", third = ""] = rest;
    if (collection === "d1") {
      if (second === "") {
        if (method === "GET")
          return databases.map(({ uuid, name }) => ({ uuid, name, version: "production" }));
        const given = (await request.json()) as { name: string; primary_location_hint?: string };
        if (found(given.name) !== undefined)
          return refusal(400, 7502, `A database with that name already exists`);
        const database = { uuid: DATABASE, name: given.name, location: given.primary_location_hint ?? null };
        databases.push(database);
        return { ...database, created_in_region: (database.location ?? "weur").toUpperCase() };
      }
      const database = found(decodeURIComponent(second));
      if (database === undefined) return refusal(404, 7404, "The database was not found");
      if (third !== "query") return database;
      const { sql, params = [] } = (await request.json()) as { sql: string; params?: unknown[] };
      const d1 = await (await workerd()).getD1Database("DB");
      try {
        const { results, meta } = await d1
          .prepare(sql)
          .bind(...params)
          .all();
        return [{ results, success: true, meta }];
      } catch (error) {
        return refusal(400, 7500, String(error));
      }
    }
    if (collection !== "workers") return refusal(404, 7000, "No route for that URI");
    if (first === "subdomain") return { subdomain: "example" };
    if (first === "scripts" && second === "")
      return [...workers].map(([id, { metadata }]) => ({ id, migration_tag: metadata?.migrations?.new_tag }));
    const worker = workers.get(second);
    const missing = refusal(
      404,
      first === "services" ? 10090 : 10007,
      "This Worker does not exist on your account.",
    );
    if (first === "services")
      return worker === undefined
        ? missing
        : { default_environment: { environment: "production", script: { tag: "t" } } };
    if (third === "assets-upload-session") return { jwt: "a jwt", buckets: [] };
    if (third === "" && method === "PUT") return upload(second, request);
    if (third === "versions" && method === "POST") {
      await upload(second, request);
      return { id: crypto.randomUUID(), startup_time_ms: 1, resources: { script: { etag: "etag" } } };
    }
    if (worker === undefined) return missing;
    if (first === "workers")
      return { id: second, name: second, subdomain: { enabled: true, previews_enabled: false } };
    if (third === "secrets")
      return Object.keys(worker.secrets).map((name) => ({ name, type: "secret_text" }));
    if (third === "settings") return { bindings: worker.metadata?.bindings ?? [] };
    if (third === "subdomain") return { enabled: true, previews_enabled: false };
    if (third === "schedules") {
      worker.crons = await request.json().catch(() => null);
      return {};
    }
    if (third === "deployments") return { deployments: [] };
    if (third === "script-settings") return {};
    return undefined;
  }

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const method = message.method ?? "";
    const { pathname } = new URL(message.url ?? "", "http://api");
    const path = pathname.replace(`/client/v4/accounts/${ACCOUNT}`, "");
    // Not of the API: where the deployed Worker answers (workers-dev.js).
    if (pathname.endsWith("/workers-dev"))
      return void response.end((await api.workerUrl()) ?? "http://127.0.0.1:1");
    api.calls.push(`${method} ${path}`);
    const fault = api.fault?.method === method && api.fault.path.test(path) ? api.fault.fails : null;
    if (fault === "reset") return void response.destroy();
    const send = (status: number, body: object) => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (typeof fault === "number") {
      if (fault === 504) return void response.writeHead(504).end("<html>504 Gateway Time-out</html>");
      const { code, text } =
        fault === 403 ? { code: 10000, text: "Authentication error" } : { code: 971, text: "Please wait" };
      return send(fault, { success: false, result: null, messages: [], errors: [{ code, message: text }] });
    }
    const request = new Request("http://api/", {
      method,
      headers: message.headers as Record<string, string>,
      ...(method !== "GET" && { body: Buffer.concat(chunks) }),
    });
    const result = await answer(method, path, request);
    if (fault === "lost") return void response.destroy();
    if (result === undefined) api.unknown.push(`${method} ${path}`);
    if (result === undefined || result instanceof Refused) {
      const { status, code, message: text } = result ?? refusal(404, 7003, "No route for that URI");
      return send(status, { success: false, result: null, messages: [], errors: [{ code, message: text }] });
    }
    const list = Array.isArray(result)
      ? {
          result_info: {
            count: result.length,
            page: 1,
            per_page: 100,
            total_count: result.length,
            total_pages: 1,
          },
        }
      : {};
    send(200, { success: true, result, errors: [], messages: [], ...list });
  }

  const server = createServer((message, response) => {
    handle(message, response).catch((error: unknown) => {
      api.unknown.push(String(error));
      response.writeHead(500).end("{}");
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const api: Api = {
    url: `http://127.0.0.1:${port}/client/v4`,
    workerUrl: async () => (deployed() === undefined ? null : (await (await workerd()).ready).href),
    calls: [],
    unknown: [],
    databases,
    workers,
    fault: null,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await running?.miniflare.dispose();
    },
  };
  return api;
}

class Refused {
  readonly status: number;
  readonly code: number;
  readonly message: string;

  constructor(status: number, code: number, message: string) {
    this.status = status;
    this.code = code;
    this.message = message;
  }
}

const refusal = (status: number, code: number, message: string) => new Refused(status, code, message);
