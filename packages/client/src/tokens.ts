import { requireToken } from "./check-options.ts";
import type { Token } from "./options.ts";

/**
 * The token that calls are sent with. Keeps the token and not a promise of it: in a Worker a promise belongs to the
 * request that made it, and a client may serve many.
 */
export class Tokens {
  readonly #token: Token;
  #held: string | undefined;

  constructor(token: Token) {
    this.#token = token;
  }

  /** True if a function can make another token. */
  get renewable(): boolean {
    return typeof this.#token === "function";
  }

  /** The token to send, and not `expired` again. Throws a `TypeError` if the function returns no token. */
  async get(expired?: string): Promise<string> {
    if (typeof this.#token === "string") return this.#token;
    // Another call may have asked for a new one meanwhile.
    if (this.#held === undefined || this.#held === expired) {
      const token: unknown = await this.#token();
      requireToken(token);
      this.#held = token;
    }
    return this.#held;
  }
}
