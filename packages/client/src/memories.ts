import { conditionOf } from "./headers.ts";
import type { CairnHttp } from "./http.ts";
import type { CallOptions, MemoryWriteOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  Forgotten,
  HistoryQuery,
  ListMemoriesQuery,
  Memory,
  MemoryFilter,
  MemoryHistory,
  MemoryList,
  PastMemory,
  PatchMemoryBody,
  Reindex,
  RememberBody,
  RememberedMany,
  RememberedMemory,
  RememberInBatch,
  ReviewedMemories,
  ReviewedMemory,
  ReviewMemoriesBody,
} from "./shapes.ts";

/** `validAt`: what was true then; `asOf`: what was held true then. Milliseconds since the epoch. */
type Moment = Pick<ListMemoriesQuery, "asOf" | "validAt">;
/** Only if the memory has this version. */
type IfMemoryVersion = { ifVersion?: number | undefined };
type ChangeOptions = MemoryWriteOptions & IfMemoryVersion;
/** The same; null: only if there is no such memory. */
type RememberOptions = MemoryWriteOptions & { ifVersion?: number | null | undefined };

/** The long-term memories of a user: facts, episodes, procedures, reflections. */
export class Memories {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /**
   * Stores a memory and returns it. The same text, or the same fact, is the same memory. Recall finds it from now on.
   * `ifVersion` is a condition on the stored memory that this one supersedes, replaces or adds to.
   */
  remember(user: string, memory: RememberBody, options: RememberOptions = {}): Promise<RememberedMemory> {
    return this.#change("POST", pathOf(user), { json: memory, options });
  }

  /** Stores all memories or none. Returns one result for each, in their order. Each may have an `ifVersion`. */
  rememberMany(
    user: string,
    memories: readonly RememberInBatch[],
    options: MemoryWriteOptions = {},
  ): Promise<RememberedMany> {
    const path = pathOf(user, "batch");
    return this.#http.write({ method: "POST", path, json: { memories } }, options);
  }

  /** Returns a page of the memories that match. */
  list(
    user: string,
    { metadata, ...query }: ListMemoriesQuery = {},
    options: CallOptions = {},
  ): Promise<MemoryList> {
    const parameters = { ...query, ...(metadata && { metadata: JSON.stringify(metadata) }) };
    return this.#http.send({ method: "GET", path: pathOf(user), query: parameters }, options);
  }

  /** Yields all memories that match. Fetches pages on demand. */
  all(user: string, filter: ListMemoriesQuery = {}, options: CallOptions = {}): AsyncGenerator<Memory, void> {
    return itemsOf((cursor) => this.list(user, { ...filter, cursor }, options), filter.cursor);
  }

  /** Returns the memory, or null if there is none. */
  get(user: string, id: string, at: Moment = {}, options: CallOptions = {}): Promise<Memory | null> {
    return this.#http.find({ method: "GET", path: pathOf(user, id), query: at }, options);
  }

  /** Corrects fields of a memory; null removes a field. `superseded`: the opposites of a fact that it ended. */
  update(
    user: string,
    id: string,
    fields: PatchMemoryBody,
    options: ChangeOptions = {},
  ): Promise<RememberedMemory> {
    return this.#change("PATCH", pathOf(user, id), { json: fields, options });
  }

  /** Returns a page of the versions of a memory, newest first. */
  history(
    user: string,
    id: string,
    query: HistoryQuery = {},
    options: CallOptions = {},
  ): Promise<MemoryHistory> {
    return this.#http.send({ method: "GET", path: pathOf(user, id, "history"), query }, options);
  }

  /** Yields all versions, newest first. Fetches pages on demand. */
  allHistory(
    user: string,
    id: string,
    query: HistoryQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<PastMemory, void> {
    return itemsOf((cursor) => this.history(user, id, { ...query, cursor }, options), query.cursor);
  }

  /** Makes a past version the current one. `superseded`: the opposites of a fact that it ended. */
  restore(user: string, id: string, version: number, options: ChangeOptions = {}): Promise<RememberedMemory> {
    return this.#change("POST", pathOf(user, id, "restore"), { json: { version }, options });
  }

  /** Releases a memory from quarantine. It may become another, which its former id reaches. `superseded`: the facts that it ended. */
  release(user: string, id: string, options: ChangeOptions = {}): Promise<RememberedMemory> {
    return this.#change("POST", pathOf(user, id, "release"), { options });
  }

  /**
   * Releases or rejects many memories in quarantine: up to 500 by their ids, or 500 at a time by a filter, `{}` for all that wait. Each
   * has an outcome of its own. `cursor`: of the answer before, by the same filter.
   */
  review(
    user: string,
    body: ReviewMemoriesBody,
    { cursor, ...options }: { cursor?: string | undefined } & CallOptions = {},
  ): Promise<ReviewedMemories> {
    // A second attempt by a filter would answer with the rest alone, and one under a version would not meet it any more.
    const memories: unknown = body?.memories;
    const repeatable = Array.isArray(memories) && memories.every((one) => one?.ifVersion === undefined);
    const [path, query] = [pathOf(user, "review"), { cursor }];
    return this.#http.send({ method: "POST", path, query, json: body, repeatable }, options);
  }

  /** Releases or rejects all that wait in quarantine when it begins, and match. Yields the outcome of each. */
  reviewAll(
    user: string,
    body: Pick<ReviewMemoriesBody, "decision" | "filter">,
    options: CallOptions = {},
  ): AsyncGenerator<ReviewedMemory, void> {
    const all = { filter: {}, ...body };
    return itemsOf((cursor) => this.review(user, all, { ...options, cursor }));
  }

  /** Deletes a memory with its history. A missing memory is no error. */
  forget(
    user: string,
    id: string,
    { ifVersion, ...options }: IfMemoryVersion & CallOptions = {},
  ): Promise<void> {
    const headers = conditionOf({ ifVersion: ifVersion?.toString() });
    return this.#http.send({ method: "DELETE", path: pathOf(user, id), headers }, options);
  }

  /**
   * Deletes the memories that match; with `dryRun`, only counts them. Also deletes the entries that the memories name in
   * `metadata.cairnEntry`, unless `keepEntries` is set.
   */
  forgetWhere(
    user: string,
    filter: MemoryFilter,
    {
      dryRun = false,
      keepEntries,
      ...options
    }: { dryRun?: boolean; keepEntries?: boolean } & CallOptions = {},
  ): Promise<Forgotten> {
    const json = { filter, dryRun, keepEntries };
    const path = pathOf(user, "forget");
    // A second attempt would count only the rest.
    return this.#http.send({ method: "POST", path, json, repeatable: dryRun }, options);
  }

  /** Deletes all memories of the user. */
  forgetAll(user: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: pathOf(user) }, options);
  }

  /** Rebuilds the user's index from D1. Recall works meanwhile. */
  reindex(user: string, options: CallOptions = {}): Promise<Reindex> {
    return this.#http.send({ method: "POST", path: ["v1", "users", user, "reindex"] }, options);
  }

  /** Returns the progress of the last reindex. */
  reindexState(user: string, options: CallOptions = {}): Promise<Reindex> {
    return this.#http.send({ method: "GET", path: ["v1", "users", user, "reindex"] }, options);
  }

  #change(
    method: "PATCH" | "POST",
    path: string[],
    { options, ...body }: { json?: unknown; options: RememberOptions },
  ): Promise<RememberedMemory> {
    const { ifVersion, ...write } = options;
    const headers = conditionOf({ ifVersion: ifVersion === null ? null : ifVersion?.toString() });
    return this.#http.write({ method, path, ...body, headers }, write);
  }
}

const pathOf = (user: string, ...rest: string[]): string[] => ["v1", "users", user, "memories", ...rest];
