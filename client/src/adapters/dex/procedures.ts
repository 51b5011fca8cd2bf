import { CairnError, hasCode } from "../../error.ts";
import type { Cairn, CallOptions, Hit, Memory } from "../../index.ts";
import type { DexProcedure } from "./types.ts";

const ANNOUNCED = 10;

type Listed = Pick<Hit & Memory, "id" | "text"> &
  Partial<Pick<Memory, "title" | "tags" | "userId" | "updatedAt">>;

/**
 * How things are done: kept under a shared owner, where all users of the tenant find them, and read along with the user's
 * own, as Cairn's MCP server does. A title names the user's own procedure if there is one, else the shared one.
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

  /** Those that answer a query so well that a model should know of them, best first. */
  async announced(query: string, minScore: number, options: CallOptions): Promise<DexProcedure[]> {
    if (query === "") return [];
    const hits = await this.#search({ query, k: ANNOUNCED, minScore }, options);
    return hits.map(({ id, title = "", score }) => ({ id, title, similarity: score }));
  }

  /** Those that fit a query best, or those that were updated last, of a tag or of any. */
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

  /** The one of this exact title. */
  async get(title: string, options: CallOptions): Promise<Memory | null> {
    const found = await Promise.all(
      this.#owners.map((owner) => naming([owner], this.#titled(owner, title, options))),
    );
    return found.find((one) => one !== null) ?? null;
  }

  /** Stores it in the place of the one of this title, else under the shared owner. */
  async store(
    { title, body, tags }: { title: string; body: string; tags?: string[] | undefined },
    options: CallOptions,
  ): Promise<{ id: string; created: boolean }> {
    const owner = await this.#ownerOf(title, options);
    const procedure = { kind: "procedure" as const, title, text: body, ...(tags && { tags }) };
    const stored = this.#clientOf(owner).memories.rememberMany(owner, [procedure], options);
    const { items } = await naming([owner], stored);
    const [one] = items;
    if (one === undefined) throw new Error("one memory was remembered, and none came back");
    return { id: one.memory.id, created: one.created };
  }

  /** How many are gone. */
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

  /** One without a scope before one of a scope, which others may have stored. */
  async #titled(owner: string, title: string, options: CallOptions): Promise<Memory | null> {
    let newest: Memory | null = null;
    for await (const one of this.#memory.memories.all(owner, { kind: ["procedure"], title }, options)) {
      if (one.scope === undefined) return one;
      newest ??= one;
    }
    return newest;
  }
}

/** A token that may not reach an owner is told that nothing is there: this says of whom, as far as it is known. */
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
