import { DurableObject } from "cloudflare:workers";
import { type Bindings, portsOf } from "../src/bindings.ts";
import type { WrittenEntry } from "../src/schema/entry.ts";
import { type Entry, entrySchema, EntryStore, type EntryWrite } from "./entry-store.ts";
import { type Migration, migrate } from "./migrate.ts";
import { WakeUp } from "./wake-up.ts";

const migrations: readonly Migration[] = [{ id: 1, description: "cache entries", sql: entrySchema }];

/** How many objects share the registry; a key belongs to one of them by its hash. Never changed: it moves keys. */
export const PROMPT_CACHE_SHARDS = 64;

/** One shard of the registry of prompt caches: the state of provider caches, shared by all workers of an app. */
export class PromptCache extends DurableObject<Bindings> {
  readonly #entries: EntryStore;
  readonly #wakeUp: WakeUp;
  readonly #now: () => number;

  constructor(ctx: DurableObjectState, env: Bindings, now = portsOf(env).now) {
    super(ctx, env);
    this.#now = now;
    migrate(ctx.storage, migrations);
    this.#entries = new EntryStore(ctx.storage.sql);
    this.#wakeUp = new WakeUp(ctx.storage);
    void ctx.blockConcurrencyWhile(() => this.#wakeUp.load());
  }

  get(key: string): Entry | null {
    return this.#entries.get(key, this.#now());
  }

  set(write: EntryWrite): WrittenEntry {
    const now = this.#now();
    const written = this.#entries.set(write, now);
    if (write.ttlMs !== null) this.#wakeUp.by(this.#entries.expiry.next(now));
    return written;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  override alarm(): void {
    this.#wakeUp.rang();
    const now = this.#now();
    this.#entries.expiry.sweep(now);
    this.#wakeUp.by(this.#entries.expiry.next(now));
  }
}
