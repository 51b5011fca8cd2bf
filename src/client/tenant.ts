import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { Health, Json, TenantRecallAnswer, TenantRecallBody, TenantReindex } from "./shapes.ts";

/** The deployment as a whole. All but `health` and `openapi` wants the scope `admin` and a token of all users (`*`). */
export class Tenant {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** What is live, and what is missing. Rejects with the status 503 while calls cannot be served. */
  health(options: CallOptions = {}): Promise<Health> {
    return this.#http.send({ method: "GET", path: ["health"], ...options });
  }

  /** The API's own description. */
  openapi(options: CallOptions = {}): Promise<Record<string, Json>> {
    return this.#http.send({ method: "GET", path: ["openapi.json"], ...options });
  }

  /** Searches the memories of all users, through Vectorize: `vectorize_required` where there is none. */
  recall(query: TenantRecallBody, options: CallOptions = {}): Promise<TenantRecallAnswer> {
    const path = ["v1", "recall"];
    return this.#http.send({ method: "POST", path, json: query, repeatable: true, ...options });
  }

  /** Rebuilds the index of every user. */
  reindex(options: CallOptions = {}): Promise<TenantReindex> {
    return this.#http.send({ method: "POST", path: ["v1", "reindex"], ...options });
  }

  /** How far the last one is. */
  reindexState(options: CallOptions = {}): Promise<TenantReindex> {
    return this.#http.send({ method: "GET", path: ["v1", "reindex"], ...options });
  }
}
