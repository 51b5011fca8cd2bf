import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { ContextLayer, ContextProfile } from "./shapes.ts";

/** Lists of layers that are stored for a user, to be named in `context`. */
export class ContextProfiles {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Stores a list of layers under a name, or replaces it. */
  put(
    user: string,
    name: string,
    layers: readonly ContextLayer[],
    options: CallOptions = {},
  ): Promise<ContextProfile> {
    return this.#http.send(
      { method: "PUT", path: path(user, name), json: { layers }, repeatable: true },
      options,
    );
  }

  /** All profiles of a user, by name. */
  async list(user: string, options: CallOptions = {}): Promise<ContextProfile[]> {
    const { items } = await this.#http.send<{ items: ContextProfile[] }>(
      { method: "GET", path: path(user), repeatable: true },
      options,
    );
    return items;
  }

  /** Deletes a profile. */
  delete(user: string, name: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: path(user, name) }, options);
  }
}

const path = (user: string, ...name: string[]): string[] => [
  "v1",
  "users",
  user,
  "context-profiles",
  ...name,
];
