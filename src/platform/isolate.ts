import { SharedVocabulary } from "./embeddings/embedded/vocabulary.ts";
import { WordModel } from "./embeddings/embedded/word-model.ts";
import { MINI_BYTES, SharedMini } from "./embeddings/mini/mini.ts";
import type { RulesByPredicate } from "../domain/memory/predicates.ts";
import type { RuleCache } from "./d1/cached-rules.ts";
import type { CurrentExtraction } from "./d1/extraction-settings.ts";
import { SharedTokenizer } from "./tokenizer.ts";
import { Kernel } from "./vectors/kernel/kernel.ts";
import { VectorBudget } from "./vectors/vector-budget.ts";

/**
 * The most bytes of the vectors of all objects in one isolate. An isolate has 128 MB. The script and its heap take some
 * 25, the word model 8 (15 while it is loaded), a tokenizer 17 where a call asks for it, and each request body up to 16 MiB.
 * mini-en-256 takes its memory from the vectors.
 */
const VECTOR_BYTES = 48 * 1024 * 1024;

/**
 * The state that the Worker and every object of an isolate share. It holds plain data only: a promise or a stream
 * belongs to the request or the object that made it.
 */
export class Isolate {
  readonly #vocabulary = new SharedVocabulary();
  readonly wordModel = new WordModel({ vocabulary: this.#vocabulary });
  readonly tokenizer = new SharedTokenizer();
  readonly vectors = new VectorBudget(VECTOR_BYTES);
  /** Compares the vectors of each object that has few. */
  readonly kernel = new Kernel();
  readonly mini = new SharedMini({
    vocabulary: this.#vocabulary,
    loaded: () => this.vectors.lowerTo(VECTOR_BYTES - MINI_BYTES),
  });
  /** The tenant's rules of predicates; `D1PredicateRules` reads and writes them. */
  readonly predicateRules: RuleCache<RulesByPredicate> = new WeakMap();
  /** The tenant's rules of extraction; `D1ExtractionSettings` reads and writes them. */
  readonly extraction: RuleCache<CurrentExtraction> = new WeakMap();
  /** The known use of each database; `DeploymentMark` reads and writes it. */
  readonly databaseUses = new WeakMap<D1Database, string>();
  /** The ports of each environment. They hold no state of a request, and no promise. */
  readonly ports = new WeakMap<object, object>();
}

/** The state of this isolate. `portsOf` hands it on; nothing else imports it. */
export const isolate = new Isolate();
