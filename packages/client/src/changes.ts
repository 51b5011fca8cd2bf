import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { ChangesPage, ChangesQuery } from "./shapes.ts";

/** The changes of a user: memories, threads and erasures, by their ids. */
export class Changes {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Returns a page of the changes since the version `after`; of everything that is stored, without it. */
  list(user: string, query: ChangesQuery = {}, options: CallOptions = {}): Promise<ChangesPage> {
    return this.#http.send({ method: "GET", path: ["v1", "users", user, "changes"], query }, options);
  }

  /**
   * Yields the pages up to now. Save a page's `version` after its items are processed: a reader that begins after it
   * misses no change.
   *
   * @example
   * for await (const { items, version, reset } of memory.changes.pages("alice", { after: await load() })) {
   *   if (reset) await clear();
   *   await apply(items);
   *   await save(version);
   * }
   */
  async *pages(
    user: string,
    query: ChangesQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<ChangesPage, void> {
    let after = query.after;
    for (let more = true; more;) {
      // oxlint-disable-next-line no-await-in-loop -- a page names the place of the next one
      const page = await this.list(user, { ...query, ...(after !== undefined && { after }) }, options);
      yield page;
      ({ version: after, more } = page);
    }
  }
}
