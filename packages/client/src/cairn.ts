import { Access } from "./access.ts";
import { Changes } from "./changes.ts";
import { ContextProfiles } from "./context-profiles.ts";
import { Entries } from "./entries.ts";
import { Erasures } from "./erasures.ts";
import { requireCairnOptions, requireMilliseconds } from "./check-options.ts";
import { CairnHttp } from "./http.ts";
import { Ingests } from "./ingests.ts";
import { Memories } from "./memories.ts";
import type { CairnOptions, CallOptions, MemoryWriteOptions } from "./options.ts";
import { PromptCaches, Registry } from "./registry.ts";
import { realTime, type Time } from "./retry.ts";
import type { ContextAnswer, ContextBody, IngestBody, Ingested, RecallAnswer, RecallBody } from "./shapes.ts";
import { SignIns } from "./sign-ins.ts";
import { Tenant } from "./tenant.ts";
import { Threads } from "./threads.ts";
import { Transfer } from "./transfer.ts";
import { Retention } from "./retention.ts";
import { Usage } from "./usage.ts";
import { userView, type UserViewOf } from "./user-view.ts";

/** The calls for one user, without the user as their first argument. Each is the call of the same name of the client. */
export type UserView = UserViewOf<Cairn>;

/** A client of one Cairn. Create it with `cairn`. */
export class Cairn {
  readonly threads: Threads;
  readonly kv: Entries;
  readonly memories: Memories;
  readonly contextProfiles: ContextProfiles;
  readonly cache: Registry;
  readonly promptCache: PromptCaches;
  readonly ingests: Ingests;
  readonly usage: Usage;
  readonly changes: Changes;
  readonly erasures: Erasures;
  readonly retention: Retention;
  readonly transfer: Transfer;
  readonly tenant: Tenant;
  readonly access: Access;
  readonly signIns: SignIns;
  readonly #http: CairnHttp;
  readonly #options: CairnOptions;
  readonly #time: Time;

  constructor(options: CairnOptions, time: Time = realTime, sender?: CairnHttp) {
    requireCairnOptions(options);
    const http = sender ?? new CairnHttp(options, time);
    this.#http = http;
    this.#time = time;
    this.#options = options;
    this.threads = new Threads(http);
    this.kv = new Entries(http);
    this.memories = new Memories(http);
    this.contextProfiles = new ContextProfiles(http);
    this.cache = new Registry(http);
    this.promptCache = new PromptCaches(http);
    this.ingests = new Ingests(http);
    this.usage = new Usage(http);
    this.changes = new Changes(http);
    this.erasures = new Erasures(http);
    this.retention = new Retention(http);
    this.transfer = new Transfer(http);
    this.tenant = new Tenant(http);
    this.access = new Access(http);
    this.signIns = new SignIns(http);
  }

  /**
   * The same client, each of whose calls ends within so many milliseconds, with its token, its retries and the whole answer:
   * it rejects with `timeout`, and a write may then be done or not.
   *
   * @example
   * const { hits } = await memory.within(500).recall("alice", { query });
   */
  within(ms: number): Cairn {
    requireMilliseconds("within", { ms });
    return new Cairn(this.#options, this.#time, this.#http.within(ms));
  }

  /**
   * The same client, each of whose calls ends when the signal aborts: it rejects with the signal's reason. Calls made later
   * are not sent.
   */
  until(signal: AbortSignal): Cairn {
    return new Cairn(this.#options, this.#time, this.#http.until(signal));
  }

  /**
   * The calls for one user, who is then no argument of each.
   *
   * @example
   * const alice = memory.user("alice");
   * await alice.remember({ text: "I moved to Lisbon" });
   * const { hits } = await alice.recall({ query: "where do I live?" });
   */
  user(user: string): UserView {
    return userView(this, user);
  }

  /** Finds memories and messages by words and by meaning, best first. */
  readonly recall = (user: string, query: RecallBody, options: CallOptions = {}): Promise<RecallAnswer> => {
    const path = ["v1", "users", user, "recall"];
    return this.#http.send({ method: "POST", path, json: query, repeatable: true }, options);
  };

  /** Gets the memory of a prompt: a stable block for the thread, and a block for the turn. */
  readonly context = (user: string, body: ContextBody, options: CallOptions = {}): Promise<ContextAnswer> => {
    const path = ["v1", "users", user, "context"];
    return this.#http.send({ method: "POST", path, json: body, repeatable: true }, options);
  };

  /**
   * Stores a conversation, whole or from the first new message on, and extracts memories from it in the background. Messages that are
   * stored already are not stored again, so a repeated call changes nothing.
   */
  readonly ingest = (user: string, body: IngestBody, options: MemoryWriteOptions = {}): Promise<Ingested> => {
    const path = ["v1", "users", user, "ingest"];
    const long = body?.mode === "wait" || undefined;
    return this.#http.write({ method: "POST", path, json: body, long }, options);
  };

  /**
   * Runs work in the background, such as a write after the response. With the option `waitUntil` the Worker stays alive
   * until it ends. Never throws: errors go to `onLaterError`.
   *
   * @example
   * memory.later(() => memory.memories.remember("alice", { text }));
   */
  readonly later = (work: () => Promise<unknown>): void => {
    const { waitUntil, onLaterError = (error) => console.error(error) } = this.#options;
    // Starts inside a promise, so that a synchronous throw is reported too.
    const done = Promise.resolve().then(work).catch(onLaterError);
    waitUntil?.(done);
  };
}

/**
 * Creates a client of one Cairn. Calls reject with `CairnError`; `get` returns null for a missing value. Throws a
 * `TypeError` if the url or the token is missing or invalid, or an option is unknown.
 *
 * @example
 * const memory = cairn({ url: "http://127.0.0.1:8787", token });
 * const alice = memory.user("alice");
 * await alice.remember({ text: "I moved to Lisbon" });
 * const { hits } = await alice.recall({ query: "where do I live?" });
 */
export const cairn = (options: CairnOptions): Cairn => new Cairn(options);
