import { CairnError, hasCode } from "../../../client/src/error.ts";
import type { Cairn, CallOptions, Hit, Memory } from "../../../client/src/index.ts";
import type { DexProcedure } from "./types.ts";

const ANNOUNCED = 10;

type Listed = Pick<Hit & Memory, "id" | "text"> &
  Partial<Pick<Memory, "title" | "tags" | "userId" | "updatedAt">>;

/**
 * Procedures, stored under a shared owner for all users of the tenant. As in Cairn's MCP server, they are read together
 * with the user's own. A title means the user's own procedure if it exists, else the shared one.
 */
export class Procedures {
  readonly #memory: Cairn;
  readonly #writer: Cairn;
  readonly #user: string;
  readonly #shared: string;

  constructor({
    memory,
    writer,
    user,
    shared,
  }: {
    memory: Cairn;
    writer: Cairn;
    user: string;
    shared: string;
  }) {
    this.#memory = memory;
    this.#writer = writer;
    this.#user = user;
    this.#shared = shared;
  }

  /** Procedures with at least `minScore` for a query, best first. */
  async announced(query: string, minScore: number, options: CallOptions): Promise<DexProcedure[]> {
    if (query === "") return [];
    const hits = await this.#search({ query, k: ANNOUNCED, minScore }, options);
    return hits.map(({ id, title = "", score }) => ({ id, title, similarity: score }));
  }

  /** The best matches of a query, or the latest updates; optionally of one tag. */
  async list(
    { query, tag, limit }: { query?: string | undefined; tag?: string | undefined; limit: number },
    options: CallOptions,
  ): Promise<Listed[]> {
    if (query !== undefined && query.trim() !== "")
      return this.#search({ query, k: limit, ...(tag !== undefined && { tags: [tag] }) }, options);
    const asked = {
      kind: ["procedure" as const],
      sort: "updatedAt" as const,
      limit,
      ...(tag !== undefined && { tag: [tag] }),
    };
    const pages = await Promise.all(
      this.#owners.map((owner) => naming([owner], this.#memory.memories.list(owner, asked, options))),
    );
    const all = pages.flatMap(({ items }) => items);
    return all.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, limit);
  }

  /** The procedure with exactly this title. */
  async get(title: string, options: CallOptions): Promise<Memory | null> {
    const found = await Promise.all(
      this.#owners.map((owner) => naming([owner], this.#titled(owner, title, options))),
    );
    return found.find((one) => one !== null) ?? null;
  }

  /** Replaces the procedure with this title, else stores it under the shared owner. */
  async store(
    { title, body, tags }: { title: string; body: string; tags?: string[] | undefined },
    options: CallOptions,
  ): Promise<{ memory: Memory; created: boolean }> {
    const owner = await this.#ownerOf(title, options);
    const procedure = { kind: "procedure" as const, title, text: body, ...(tags && { tags }) };
    const stored = this.#clientOf(owner).memories.rememberMany(owner, [procedure], {
      ...options,
      trust: "model",
      adapter: "dex",
    });
    const { items } = await naming([owner], stored);
    const [one] = items;
    if (one === undefined) throw new Error("one memory was remembered, and none came back");
    return one;
  }

  /** Returns the number of deleted procedures. */
  async forget(title: string, options: CallOptions): Promise<number> {
    const owner = await this.#ownerOf(title, options);
    const filter = { kinds: ["procedure" as const], title };
    const forgotten = this.#clientOf(owner).memories.forgetWhere(owner, filter, options);
    return (await naming([owner], forgotten)).count;
  }

  get #owners(): string[] {
    return [...new Set([this.#user, this.#shared])];
  }

  #clientOf(owner: string): Cairn {
    return owner === this.#shared ? this.#writer : this.#memory;
  }

  async #ownerOf(title: string, options: CallOptions): Promise<string> {
    return (await this.get(title, options))?.userId ?? this.#shared;
  }

  async #search(
    asked: { query: string; k: number; minScore?: number; tags?: string[] },
    options: CallOptions,
  ): Promise<Hit[]> {
    const owners = this.#shared === this.#user ? [] : [this.#shared];
    const body = { ...asked, kinds: ["procedure" as const], owners };
    const { hits } = await naming(this.#owners, this.#memory.recall(this.#user, body, options));
    return hits;
  }

  /** Prefers a procedure without a scope; others may have stored scoped ones. */
  async #titled(owner: string, title: string, options: CallOptions): Promise<Memory | null> {
    let newest: Memory | null = null;
    for await (const one of this.#memory.memories.all(owner, { kind: ["procedure"], title }, options)) {
      if (one.scope === undefined) return one;
      newest ??= one;
    }
    return newest;
  }
}

/** A token without access to an owner gets `not_found`: names the possible owners. */
async function naming<T>(owners: readonly string[], asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!hasCode(error, "not_found")) throw error;
    const message = `the token does not reach the procedures of ${owners.map((owner) => JSON.stringify(owner)).join(" and ")}`;
    throw new CairnError(
      { code: "not_found", message },
      { status: error.status, cause: error, call: error.call },
    );
  }
}
