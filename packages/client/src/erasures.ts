import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { Erasure } from "./shapes.ts";

/**
 * Erasures with a receipt. Once a call resolves, no read returns the erased data; `get` returns the progress. A repeated
 * call, as after a lost answer, returns the same erasure.
 */
export class Erasures {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Erases all data of a user. */
  user(user: string, options: CallOptions = {}): Promise<Erasure> {
    return this.#http.send({ method: "DELETE", path: ["v1", "users", user] }, options);
  }

  /** Erases one thread, except messages that a fork of it shares. */
  thread(user: string, threadId: string, options: CallOptions = {}): Promise<Erasure> {
    return this.#http.send({ method: "POST", path: pathOf(user), json: { threadId } }, options);
  }

  /** Erases all memories of a scope, with their history. */
  scope(user: string, scope: string, options: CallOptions = {}): Promise<Erasure> {
    const json = { scope };
    return this.#http.send({ method: "POST", path: pathOf(user), json, repeatable: true }, options);
  }

  /** Returns the progress of an erasure, and its receipt once it is done; null if there is no such erasure. */
  get(id: string, options: CallOptions = {}): Promise<Erasure | null> {
    return this.#http.find({ method: "GET", path: ["v1", "erasures", id] }, options);
  }
}

const pathOf = (user: string): string[] => ["v1", "users", user, "erasures"];
