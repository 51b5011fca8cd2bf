import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  MemoryUsage,
  MemoryUsageList,
  Outcome,
  OutcomeBody,
  StatisticsQuery,
  TenantStatistics,
  UsageQuery,
  UserSummary,
} from "./shapes.ts";

/** Counts: how often memories were recalled, shown and used, what a user holds, and the tenant over time. */
export class Usage {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Tells which memories of a recall or a context were used: by their ids, or by the model's answer. Counts once. */
  outcome(recallId: string, outcome: OutcomeBody, options: CallOptions = {}): Promise<Outcome> {
    const path = ["v1", "recalls", recallId, "outcome"];
    return this.#http.send({ method: "POST", path, json: outcome, repeatable: true }, options);
  }

  /** Returns a page of counters. With `unusedDays`: memories that are older than so many days and were not used since. */
  list(user: string, query: UsageQuery = {}, options: CallOptions = {}): Promise<MemoryUsageList> {
    return this.#http.send({ method: "GET", path: ["v1", "users", user, "usage"], query }, options);
  }

  /** Returns what a user holds, unfinished ingests, and how far the webhook is. */
  summary(user: string, options: CallOptions = {}): Promise<UserSummary> {
    return this.#http.send({ method: "GET", path: ["v1", "users", user, "summary"] }, options);
  }

  /** Returns users, memories and threads by day, and recalls by hour. Needs a token of `*` with the scope `admin`. */
  tenant(query: StatisticsQuery = {}, options: CallOptions = {}): Promise<TenantStatistics> {
    return this.#http.send({ method: "GET", path: ["v1", "statistics"], query }, options);
  }

  /** Yields all of them. Fetches pages on demand. */
  all(user: string, query: UsageQuery = {}, options: CallOptions = {}): AsyncGenerator<MemoryUsage, void> {
    return itemsOf((cursor) => this.list(user, { ...query, cursor }, options), query.cursor);
  }
}
