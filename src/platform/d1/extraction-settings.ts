import { compiled } from "../../domain/redaction/pattern.ts";
import type { Redaction } from "../../domain/redaction/redacted-json.ts";
import type { Extraction } from "../../domain/schema/extraction.ts";
import { CachedRules, type RuleCache } from "./cached-rules.ts";
import { D1TenantSettings } from "./tenant-settings.ts";

/** The rules as calls need them. */
export type CurrentExtraction = {
  rules: NonNullable<Extraction["rules"]>;
  redactions: readonly Redaction[];
};

const AS = "[redacted]";

/** The tenant's rules of extraction, and its patterns of redaction. Every method rejects when D1 does not answer. */
export class D1ExtractionSettings extends D1TenantSettings<Extraction> {
  readonly #cached: CachedRules<CurrentExtraction>;

  constructor(db: D1Database, shared: { cache: RuleCache<CurrentExtraction>; now: () => number }) {
    super(db, "extraction");
    this.#cached = new CachedRules(db, shared, async () => compiledOf(await this.get()));
  }

  /** As they hold: at most a minute old; up to an hour old while D1 does not answer. */
  current(): Promise<CurrentExtraction> {
    return this.#cached.current();
  }

  override async put(extraction: Extraction): Promise<void> {
    await super.put(extraction);
    this.#cached.forget();
  }
}

export type ExtractionSettings = Pick<D1ExtractionSettings, keyof D1ExtractionSettings>;

const compiledOf = ({ rules = [], redact = [] }: Extraction): CurrentExtraction => ({
  rules,
  redactions: redact.map(({ pattern, as = AS }) => {
    const expression = compiled(pattern);
    // Without it, texts would be stored that the tenant wants out.
    if (typeof expression === "string") throw new Error(`a stored pattern of redaction ${expression}`);
    return { expression, as };
  }),
});
