import { Access } from "./access.ts";
import { Entries } from "./entries.ts";
import { Erasures } from "./erasures.ts";
import { requireCairnOptions } from "./check-options.ts";
import { CairnHttp } from "./http.ts";
import { Memories } from "./memories.ts";
import type { CairnOptions, CallOptions } from "./options.ts";
import { PromptCaches, Registry } from "./registry.ts";
import { realTime, type Time } from "./retry.ts";
import type { RecallAnswer, RecallBody } from "./shapes.ts";
import { Tenant } from "./tenant.ts";
import { Threads } from "./threads.ts";
import { Transfer } from "./transfer.ts";

/** A client of one Cairn: what `cairn` makes. */
export class Cairn {
  readonly threads: Threads;
  readonly kv: Entries;
  readonly memories: Memories;
  readonly cache: Registry;
  readonly promptCache: PromptCaches;
  readonly erasures: Erasures;
  readonly transfer: Transfer;
  readonly tenant: Tenant;
  readonly access: Access;
  readonly #http: CairnHttp;
  readonly #options: CairnOptions;

  constructor(options: CairnOptions, time: Time = realTime) {
    requireCairnOptions(options);
    const http = new CairnHttp(options, time);
    this.#http = http;
    this.#options = options;
    this.threads = new Threads(http);
    this.kv = new Entries(http);
    this.memories = new Memories(http);
    this.cache = new Registry(http);
    this.promptCache = new PromptCaches(http);
    this.erasures = new Erasures(http);
    this.transfer = new Transfer(http);
    this.tenant = new Tenant(http);
    this.access = new Access(http);
  }

  /** Finds memories and messages by words and by meaning, best first. */
  readonly recall = (user: string, query: RecallBody, options: CallOptions = {}): Promise<RecallAnswer> => {
    const path = ["v1", "users", user, "recall"];
    return this.#http.send({ method: "POST", path, json: query, repeatable: true, ...options });
  };

  /**
   * Does what nobody waits for, as a write after the answer is out: with the option `waitUntil` the Worker stays alive
   * for it. Never throws; what fails is told to `onLaterError`.
   *
   * @example
   * memory.later(() => memory.memories.remember("alice", { text }));
   */
  readonly later = (work: () => Promise<unknown>): void => {
    const { waitUntil, onLaterError = (error) => console.error(error) } = this.#options;
    // In a promise from the start, so that what throws at once is told likewise.
    const done = Promise.resolve().then(work).catch(onLaterError);
    waitUntil?.(done);
  };
}

/**
 * A client of one Cairn. Calls reject with `CairnError`; a `get` of what is not there is null. Throws a `TypeError` where
 * the url or the token is missing, or the url is none.
 *
 * @example
 * const memory = cairn({ url: "http://127.0.0.1:8787", token });
 * await memory.memories.remember("alice", { text: "I moved to Lisbon" });
 * const { hits } = await memory.recall("alice", { query: "where do I live?" });
 */
export const cairn = (options: CairnOptions): Cairn => new Cairn(options);
