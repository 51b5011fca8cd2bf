import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { Retention as Rules, RetentionCounts, TenantRetention, UserRetention } from "./shapes.ts";

/**
 * The time that data are kept. Rules of the tenant, of a user and of a thread (`threads.patch`) hold together: the shortest one wins. A new
 * rule deletes nothing for an hour.
 */
export class Retention {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Returns a user's rules, what is past its time by them, and the last deletion. */
  get(user: string, options: CallOptions = {}): Promise<UserRetention> {
    return this.#http.send({ method: "GET", path: ofUser(user) }, options);
  }

  /** Sets a user's own rules, in place of all that were set. */
  put(user: string, rules: Rules, options: CallOptions = {}): Promise<UserRetention> {
    return this.#http.send({ method: "PUT", path: ofUser(user), json: rules, repeatable: true }, options);
  }

  /** Counts what a user's own rules would delete, and changes nothing. */
  preview(user: string, rules: Rules, options: CallOptions = {}): Promise<UserRetention> {
    const request = {
      method: "PUT",
      path: ofUser(user),
      query: DRY_RUN,
      json: rules,
      repeatable: true,
    } as const;
    return this.#http.send(request, options);
  }

  /** Deletes a user's own rules. */
  delete(user: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: ofUser(user) }, options);
  }

  /** Returns the tenant's rules, and how many users know them. Needs a token of `*` with the scope `admin`, as the next three do. */
  tenant(options: CallOptions = {}): Promise<TenantRetention> {
    return this.#http.send({ method: "GET", path: TENANT }, options);
  }

  /** Sets the tenant's rules, in place of all that were set. */
  putTenant(rules: Rules, options: CallOptions = {}): Promise<TenantRetention> {
    return this.#http.send({ method: "PUT", path: TENANT, json: rules, repeatable: true }, options);
  }

  /** Counts what rules would delete of all users, and changes nothing. Calls once for each 100 users. */
  async previewTenant(rules: Rules, options: CallOptions = {}): Promise<RetentionCounts & { users: number }> {
    const sum = { users: 0, threads: 0, messages: 0, memories: 0 };
    let cursor: string | undefined;
    do {
      const query = { ...DRY_RUN, cursor };
      const request = { method: "PUT", path: TENANT, query, json: rules, repeatable: true } as const;
      const page = await this.#http.send<TenantRetention>(request, options);
      sum.users += page.users;
      sum.threads += page.due?.threads ?? 0;
      sum.messages += page.due?.messages ?? 0;
      sum.memories += page.due?.memories ?? 0;
      ({ cursor } = page);
    } while (cursor !== undefined);
    return sum;
  }

  /** Deletes the tenant's rules. */
  deleteTenant(options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: TENANT }, options);
  }
}

const DRY_RUN = { dryRun: "true" } as const;
const TENANT = ["v1", "retention"];
const ofUser = (user: string): string[] => ["v1", "users", user, "retention"];
