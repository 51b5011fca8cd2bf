import { conditionOf, onceOf } from "./headers.ts";
import type { CairnHttp } from "./http.ts";
import type { CallOptions, WriteOptions } from "./options.ts";
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
  RememberInBatch,
} from "./shapes.ts";

/** `validAt`: what was true then; `asOf`: what was held true then. Milliseconds since the epoch. */
type Moment = Pick<ListMemoriesQuery, "asOf" | "validAt">;
/** Only if the memory has this version. */
type IfMemoryVersion = { ifVersion?: number | undefined };
type ChangeOptions = WriteOptions & IfMemoryVersion;
/** The same; null: only if there is no such memory. */
type RememberOptions = WriteOptions & { ifVersion?: number | null | undefined };

/** The long-term memories of a user: facts, episodes, procedures, reflections. */
export class Memories {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /**
   * The memory as it is now: the same words again, or the same fact, are the same memory. Recall finds it from now on.
   * `ifVersion` is about the memory that is there: the one that this one supersedes, replaces or adds to.
   */
  remember(user: string, memory: RememberBody, options: RememberOptions = {}): Promise<Memory> {
    return this.#change("POST", pathOf(user), { json: memory, options });
  }

  /** All of them, or none; what became of each, in their order. Each may have an `ifVersion`. */
  rememberMany(
    user: string,
    memories: readonly RememberInBatch[],
    options: WriteOptions = {},
  ): Promise<RememberedMany> {
    const { signal } = options;
    const call = { method: "POST", path: pathOf(user, "batch"), json: { memories } } as const;
    return this.#http.send({ ...call, headers: onceOf(options), signal });
  }

  list(
    user: string,
    { metadata, ...query }: ListMemoriesQuery = {},
    options: CallOptions = {},
  ): Promise<MemoryList> {
    const asked = { ...query, ...(metadata && { metadata: JSON.stringify(metadata) }) };
    return this.#http.send({ method: "GET", path: pathOf(user), query: asked, ...options });
  }

  /** All memories that the filter means, page by page. */
  all(user: string, filter: ListMemoriesQuery = {}, options: CallOptions = {}): AsyncGenerator<Memory, void> {
    return itemsOf((cursor) => this.list(user, { ...filter, cursor }, options), filter.cursor);
  }

  get(user: string, id: string, at: Moment = {}, options: CallOptions = {}): Promise<Memory | null> {
    return this.#http.find({ method: "GET", path: pathOf(user, id), query: at, ...options });
  }

  /** Corrects what a memory says; null takes a field away. */
  update(user: string, id: string, fields: PatchMemoryBody, options: ChangeOptions = {}): Promise<Memory> {
    return this.#change("PATCH", pathOf(user, id), { json: fields, options });
  }

  /** The versions of a memory, the newest first. */
  history(
    user: string,
    id: string,
    query: HistoryQuery = {},
    options: CallOptions = {},
  ): Promise<MemoryHistory> {
    return this.#http.send({ method: "GET", path: pathOf(user, id, "history"), query, ...options });
  }

  /** The same, all of it, page by page. */
  allHistory(
    user: string,
    id: string,
    query: HistoryQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<PastMemory, void> {
    return itemsOf((cursor) => this.history(user, id, { ...query, cursor }, options), query.cursor);
  }

  /** Lets a version of the history take the place of what the memory says. */
  restore(user: string, id: string, version: number, options: ChangeOptions = {}): Promise<Memory> {
    return this.#change("POST", pathOf(user, id, "restore"), { json: { version }, options });
  }

  /** Out of quarantine. The memory may have another id then: that of what it takes the place of. */
  release(user: string, id: string, options: ChangeOptions = {}): Promise<Memory> {
    return this.#change("POST", pathOf(user, id, "release"), { options });
  }

  forget(user: string, id: string, { ifVersion, signal }: IfMemoryVersion & CallOptions = {}): Promise<void> {
    const headers = conditionOf({ ifVersion: ifVersion?.toString() });
    return this.#http.send({ method: "DELETE", path: pathOf(user, id), headers, signal });
  }

  /**
   * Forgets what the filter means; with `dryRun`, only says what that is. Deletes the entries that the memories name in
   * `metadata.cairnEntry`, unless `keepEntries` is set.
   */
  forgetWhere(
    user: string,
    filter: MemoryFilter,
    { dryRun = false, keepEntries, signal }: { dryRun?: boolean; keepEntries?: boolean } & CallOptions = {},
  ): Promise<Forgotten> {
    const json = { filter, dryRun, keepEntries };
    // Sent twice it would answer what the second time was left.
    return this.#http.send({
      method: "POST",
      path: pathOf(user, "forget"),
      json,
      repeatable: dryRun,
      signal,
    });
  }

  forgetAll(user: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: pathOf(user), ...options });
  }

  /** Rebuilds the user's index from the record, while recall goes on. */
  reindex(user: string, options: CallOptions = {}): Promise<Reindex> {
    return this.#http.send({ method: "POST", path: ["v1", "users", user, "reindex"], ...options });
  }

  /** The progress of the last reindex. */
  reindexState(user: string, options: CallOptions = {}): Promise<Reindex> {
    return this.#http.send({ method: "GET", path: ["v1", "users", user, "reindex"], ...options });
  }

  #change(
    method: "PATCH" | "POST",
    path: string[],
    { json, options }: { json?: unknown; options: RememberOptions },
  ): Promise<Memory> {
    const { signal, ifVersion } = options;
    const version = ifVersion === null ? null : ifVersion?.toString();
    const headers = { ...onceOf(options), ...conditionOf({ ifVersion: version }) };
    return this.#http.send({ method, path, json, headers, signal });
  }
}

const pathOf = (user: string, ...rest: string[]): string[] => ["v1", "users", user, "memories", ...rest];
