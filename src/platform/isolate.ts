import { SharedModel } from "./embeddings/embedded/shared-model.ts";
import { VectorBudget } from "./vectors/vector-budget.ts";

/**
 * What the vectors of all users' objects may take in the memory of one isolate. An isolate has 128 MB, which also hold
 * the script and its heap (some 25), the word model (10, and 14 more while it is loaded) and the bodies of the requests
 * under way (16 MiB each at most).
 */
const VECTOR_BYTES = 48 * 1024 * 1024;

/**
 * All state that outlives both a request and an object: the Worker and every object of an isolate share it. Plain data
 * only, as a promise or a stream belongs to the request or the object that made it.
 */
export class Isolate {
  readonly wordModel = new SharedModel();
  readonly vectors = new VectorBudget(VECTOR_BYTES);
  /** The known use of each database; `DeploymentMark` reads and writes it. */
  readonly databaseUses = new WeakMap<D1Database, string>();
}

/** The state of this isolate. `portsOf` hands it on; nothing else imports it. */
export const isolate = new Isolate();
