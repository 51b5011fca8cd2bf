import { compiled } from "../../domain/redaction/pattern.ts";
import type { Redaction } from "../../domain/redaction/redacted-json.ts";
import { withDeadline } from "../deadline.ts";
import { D1TenantSettings, type TenantSettings } from "./tenant-settings.ts";
import type { Extraction } from "../../domain/schema/extraction.ts";

/** The tenant's rules of extraction, and its patterns of redaction. Every method rejects when D1 does not answer. */
export interface ExtractionSettings extends TenantSettings<Extraction> {
  /** As they hold: at most a minute old; up to an hour old while D1 does not answer. */
  current(): Promise<Current>;
}

type Current = { rules: NonNullable<Extraction["rules"]>; redactions: readonly Redaction[] };
/** The settings of a database as an isolate read them. */
export type CachedExtraction = Current & { readAt: number; failedAt?: number };

const CURRENT_MS = 60_000;
const USABLE_MS = 60 * 60_000;
/** The time that D1 has to answer, and the pause after it did not while the settings are usable: each call asks for them. */
const [READ_MS, RETRY_MS] = [5_000, 5_000];
const AS = "[redacted]";

export class D1ExtractionSettings implements ExtractionSettings {
  readonly #db: D1Database;
  readonly #settings: TenantSettings<Extraction>;
  readonly #cache: WeakMap<D1Database, CachedExtraction>;
  readonly #now: () => number;

  /** `cache`: shared by all objects of the isolate. */
  constructor(
    db: D1Database,
    { cache, now }: { cache: WeakMap<D1Database, CachedExtraction>; now: () => number },
  ) {
    this.#db = db;
    this.#settings = new D1TenantSettings(db, "extraction");
    this.#cache = cache;
    this.#now = now;
  }

  async current(): Promise<Current> {
    const cached = this.#cache.get(this.#db);
    // A negative age: the clock was put back.
    const age = cached === undefined ? Infinity : Math.abs(this.#now() - cached.readAt);
    if (cached !== undefined && age < CURRENT_MS) return cached;
    const isPaused = Math.abs(this.#now() - (cached?.failedAt ?? -Infinity)) < RETRY_MS;
    if (cached !== undefined && isPaused && age < USABLE_MS) return cached;
    try {
      const { rules = [], redact = [] } = await withDeadline(this.get(), READ_MS);
      const redactions = redact.map(({ pattern, as = AS }): Redaction => {
        const expression = compiled(pattern);
        // Without it, texts would be stored that the tenant wants out.
        if (typeof expression === "string") throw new Error(`a stored pattern of redaction ${expression}`);
        return { expression, as };
      });
      const fresh = { rules, redactions, readAt: this.#now() };
      this.#cache.set(this.#db, fresh);
      return fresh;
    } catch (error) {
      if (cached === undefined || age >= USABLE_MS) throw error;
      this.#cache.set(this.#db, { ...cached, failedAt: this.#now() });
      return cached;
    }
  }

  get(): Promise<Extraction> {
    return this.#settings.get();
  }

  async put(extraction: Extraction): Promise<void> {
    await this.#settings.put(extraction);
    this.#cache.delete(this.#db);
  }
}
