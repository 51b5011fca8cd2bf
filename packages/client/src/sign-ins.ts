import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { SignIn, SignInCode } from "./shapes.ts";

/** The apps that a user signed in with for MCP. */
export class SignIns {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Returns the user's sign-ins, newest first: 50 at most. */
  async list(user: string, options: CallOptions = {}): Promise<SignIn[]> {
    const { items } = await this.#http.send<{ items: SignIn[] }>(
      { method: "GET", path: ["v1", "users", user, "sign-ins"] },
      options,
    );
    return items;
  }

  /** Ends a sign-in. Its tokens are refused everywhere within 30 seconds. */
  revoke(user: string, id: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: ["v1", "users", user, "sign-ins", id] }, options);
  }

  /** Creates a code by which the user signs in, once, within ten minutes. Needs the scope `admin`. */
  createCode(user: string, options: CallOptions = {}): Promise<SignInCode> {
    return this.#http.send({ method: "POST", path: ["v1", "users", user, "sign-in-codes"] }, options);
  }
}
