import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  CataloguedUser,
  ContextLayer,
  ContextProfile,
  Extraction,
  Health,
  Json,
  JsonWebKeys,
  ListUsersQuery,
  NamedPredicateRule,
  PredicateRuleBody,
  TenantReindex,
  WebhookResumed,
  UserList,
} from "./shapes.ts";

/** The whole deployment. Except `health`, `openapi` and `receiptKeys`, calls need the scope `admin` and a token of all users (`*`). */
export class Tenant {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Returns the state of each part. Rejects with status 503 while Cairn cannot serve calls. */
  health(options: CallOptions = {}): Promise<Health> {
    return this.#http.send({ method: "GET", path: ["health"] }, options);
  }

  /** Returns the OpenAPI description. */
  openapi(options: CallOptions = {}): Promise<Record<string, Json>> {
    return this.#http.send({ method: "GET", path: ["openapi.json"] }, options);
  }

  /** Returns the public keys that verify receipts of erasures. */
  receiptKeys(options: CallOptions = {}): Promise<JsonWebKeys> {
    return this.#http.send({ method: "GET", path: [".well-known", "jwks.json"] }, options);
  }

  /** Returns a page of the users that have data, by their hashes. */
  users(query: ListUsersQuery = {}, options: CallOptions = {}): Promise<UserList> {
    return this.#http.send({ method: "GET", path: ["v1", "users"], query }, options);
  }

  /** Yields all users that have data. Fetches pages on demand. */
  allUsers(query: ListUsersQuery = {}, options: CallOptions = {}): AsyncGenerator<CataloguedUser, void> {
    return itemsOf((cursor) => this.users({ ...query, cursor }, options), query.cursor);
  }

  /** Starts a rebuild of the index of every user. */
  reindex(options: CallOptions = {}): Promise<TenantReindex> {
    return this.#http.send({ method: "POST", path: ["v1", "reindex"] }, options);
  }

  /** Returns the progress of the last rebuild. */
  reindexState(options: CallOptions = {}): Promise<TenantReindex> {
    return this.#http.send({ method: "GET", path: ["v1", "reindex"] }, options);
  }

  /** Sends changes to the webhook again, whose receiver was away. */
  resumeWebhook(options: CallOptions = {}): Promise<WebhookResumed> {
    return this.#http.send({ method: "POST", path: ["v1", "webhook", "resume"] }, options);
  }

  /** The lists of layers that all users can name, by name. */
  async contextProfiles(options: CallOptions = {}): Promise<ContextProfile[]> {
    const { items } = await this.#http.send<{ items: ContextProfile[] }>(
      { method: "GET", path: PROFILES },
      options,
    );
    return items;
  }

  /** Stores a list of layers that all users can name, or replaces it. A user's own list of the name goes before it. */
  putContextProfile(
    name: string,
    layers: readonly ContextLayer[],
    options: CallOptions = {},
  ): Promise<ContextProfile> {
    const path = [...PROFILES, name];
    return this.#http.send({ method: "PUT", path, json: { layers }, repeatable: true }, options);
  }

  /** Deletes a list of layers that all users can name. */
  deleteContextProfile(name: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: [...PROFILES, name] }, options);
  }

  /** The tenant's rules of predicates, by name. */
  async predicateRules(options: CallOptions = {}): Promise<NamedPredicateRule[]> {
    const { items } = await this.#http.send<{ items: NamedPredicateRule[] }>(
      { method: "GET", path: PREDICATES },
      options,
    );
    return items;
  }

  /** Sets the rule of a predicate. The default of the predicate holds for what is not set. */
  putPredicateRule(
    predicate: string,
    rule: PredicateRuleBody,
    options: CallOptions = {},
  ): Promise<NamedPredicateRule> {
    const path = [...PREDICATES, predicate];
    return this.#http.send({ method: "PUT", path, json: rule, repeatable: true }, options);
  }

  /** Deletes the rule of a predicate, which then has its default. */
  deletePredicateRule(predicate: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: [...PREDICATES, predicate] }, options);
  }

  /** The tenant's rules of extraction, and its patterns of redaction. */
  extraction(options: CallOptions = {}): Promise<Extraction> {
    return this.#http.send({ method: "GET", path: EXTRACTION }, options);
  }

  /** Sets the rules of extraction and the patterns of redaction, in place of all that were set. */
  putExtraction(extraction: Extraction, options: CallOptions = {}): Promise<Extraction> {
    return this.#http.send({ method: "PUT", path: EXTRACTION, json: extraction, repeatable: true }, options);
  }

  /** Deletes the rules of extraction and the patterns of redaction. */
  deleteExtraction(options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: EXTRACTION }, options);
  }
}

const PROFILES = ["v1", "context-profiles"];
const PREDICATES = ["v1", "predicates"];
const EXTRACTION = ["v1", "extraction"];
