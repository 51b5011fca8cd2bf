import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  CataloguedUser,
  Health,
  Json,
  JsonWebKeys,
  ListUsersQuery,
  TenantRecallAnswer,
  TenantRecallBody,
  TenantReindex,
  UserList,
} from "./shapes.ts";

/** The deployment as a whole. All but `health`, `openapi` and `receiptKeys` wants the scope `admin` and a token of all users (`*`). */
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

  /** The public keys that verify the receipts of erasures. */
  receiptKeys(options: CallOptions = {}): Promise<JsonWebKeys> {
    return this.#http.send({ method: "GET", path: [".well-known", "jwks.json"], ...options });
  }

  /** All users who have written anything, by their hashes: a page. */
  users(query: ListUsersQuery = {}, options: CallOptions = {}): Promise<UserList> {
    return this.#http.send({ method: "GET", path: ["v1", "users"], query, ...options });
  }

  /** All of them, page by page. */
  allUsers(query: ListUsersQuery = {}, options: CallOptions = {}): AsyncGenerator<CataloguedUser, void> {
    return itemsOf((cursor) => this.users({ ...query, cursor }, options), query.cursor);
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
