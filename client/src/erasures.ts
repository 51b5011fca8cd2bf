import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { Erasure } from "./shapes.ts";

/**
 * Erasures with a receipt. Nothing of what is erased is read any more when one of these resolves; `get` tells how far it is.
 * Asked for again, as after a lost answer, it is the same erasure.
 */
export class Erasures {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Everything of a user's. */
  user(user: string, options: CallOptions = {}): Promise<Erasure> {
    return this.#http.send({ method: "DELETE", path: ["v1", "users", user], ...options });
  }

  /** One thread, but for messages that a fork of it shows. */
  thread(user: string, threadId: string, options: CallOptions = {}): Promise<Erasure> {
    return this.#http.send({ method: "POST", path: pathOf(user), json: { threadId }, ...options });
  }

  /** All memories of a scope, with their history. */
  scope(user: string, scope: string, options: CallOptions = {}): Promise<Erasure> {
    const json = { scope };
    return this.#http.send({ method: "POST", path: pathOf(user), json, repeatable: true, ...options });
  }

  /** How far one is, and its receipt when it is done. */
  get(id: string, options: CallOptions = {}): Promise<Erasure | null> {
    return this.#http.find({ method: "GET", path: ["v1", "erasures", id], ...options });
  }
}

const pathOf = (user: string): string[] => ["v1", "users", user, "erasures"];
