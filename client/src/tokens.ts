import type { Token } from "./options.ts";

/**
 * The token that calls are sent with. What is kept is the token and not the promise of one: in a Worker a promise belongs
 * to the request that made it, and a client may serve many.
 */
export class Tokens {
  readonly #token: Token;
  #held: string | undefined;

  constructor(token: Token) {
    this.#token = token;
  }

  /** True if there is another one to be had. */
  get renewable(): boolean {
    return typeof this.#token === "function";
  }

  /** The one to send; `expired` is one that is not to be had again. */
  async get(expired?: string): Promise<string> {
    if (typeof this.#token === "string") return this.#token;
    // Another call may have asked for a new one meanwhile.
    if (this.#held === undefined || this.#held === expired) this.#held = await this.#token();
    return this.#held;
  }
}
