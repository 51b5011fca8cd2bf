import { type OptionNames, requireKnownOptions } from "../../../client/src/known-options.ts";
import type { CairnCache } from "./cache.ts";
import type { RunStore } from "./types.ts";

export type CairnRunsOptions = {
  cache: CairnCache;
  /** `gemstack:ai:agent-run:` unless set; the SDK's sub-agent runs use `gemstack:ai:sub-agent-run:`. */
  keyPrefix?: string;
  /** 300 unless set. */
  ttlSeconds?: number;
};

const OPTIONS: OptionNames<CairnRunsOptions> = { cache: true, keyPrefix: true, ttlSeconds: true };

/** Parked agent runs in a cache, under the SDK's own keys, as `cairnRuns` creates it. */
export class CairnRuns<Run> implements RunStore<Run> {
  readonly #cache: CairnCache;
  readonly #keyPrefix: string;
  readonly #ttlSeconds: number;

  constructor(options: CairnRunsOptions) {
    requireKnownOptions("cairnRuns", options, OPTIONS);
    const { cache, keyPrefix = "gemstack:ai:agent-run:", ttlSeconds = 300 } = options;
    this.#cache = cache;
    this.#keyPrefix = keyPrefix;
    this.#ttlSeconds = ttlSeconds;
  }

  store(id: string, run: Run): Promise<void> {
    return this.#cache.set(this.#keyPrefix + id, run, this.#ttlSeconds);
  }

  /** Reads the run and keeps it. */
  load(id: string): Promise<Run | null> {
    return this.#cache.get<Run>(this.#keyPrefix + id);
  }

  /** Reads and deletes the run; of concurrent callers, one gets it. */
  consume(id: string): Promise<Run | null> {
    return this.#cache.consume<Run>(this.#keyPrefix + id);
  }
}

/**
 * Replaces the SDK's `CachedAgentRunStore` and `CachedSubAgentRunStore`, whose `consume` is not atomic.
 *
 * @example
 * const runs = cairnRuns<AgentRunState>({ cache: cairnCache({ memory }) });
 */
export const cairnRuns = <Run>(options: CairnRunsOptions): CairnRuns<Run> => new CairnRuns<Run>(options);
