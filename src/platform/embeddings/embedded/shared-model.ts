import { DeadlineExceeded, withDeadline } from "../../deadline.ts";
import { EMBED_DEADLINE_MS } from "../embedder.ts";
import { type Assets, type EmbeddedModel, loadModel } from "./model.ts";

export const MODEL_NAME = "static-en-256";

/** The interval at which a caller checks whether another one has loaded the model. */
const LOOK_AGAIN_MS = 10;
/** A load takes some 100 ms. A longer one belongs to a request or an object that ended. */
const TAKE_OVER_MS = 3_000;

/**
 * The word model of an isolate: 7 MB, loaded once, by the first caller. The others poll, because they may belong to
 * other objects: an object cannot await the promise of another one.
 */
export class SharedModel {
  readonly #takeOverMs: number;
  #model: EmbeddedModel | null = null;
  /** The load under way, by its identity. It may never end. */
  #loading: object | null = null;

  constructor({ takeOverMs = TAKE_OVER_MS } = {}) {
    this.#takeOverMs = takeOverMs;
  }

  /** Null until a first call has loaded it. */
  get loaded(): EmbeddedModel | null {
    return this.#model;
  }

  /** Rejects with `DeadlineExceeded` after `withinMs`, and where the model is not among the assets. */
  async get(assets: Assets, withinMs = EMBED_DEADLINE_MS): Promise<EmbeddedModel> {
    let [waited, watched, watchedMs] = [0, this.#loading, 0];
    // Counts the timers, as the clock stands still between awaits.
    while (this.#model === null) {
      if (this.#loading === null || watchedMs >= this.#takeOverMs)
        return this.#load(assets, withinMs - waited);
      if (waited >= withinMs) throw new DeadlineExceeded(withinMs);
      await scheduler.wait(LOOK_AGAIN_MS);
      waited += LOOK_AGAIN_MS;
      watchedMs = this.#loading === watched ? watchedMs + LOOK_AGAIN_MS : 0;
      watched = this.#loading;
    }
    return this.#model;
  }

  async #load(assets: Assets, withinMs: number): Promise<EmbeddedModel> {
    const load = {};
    this.#loading = load;
    try {
      const model = await withDeadline(loadModel(assets, MODEL_NAME), withinMs);
      // Two loads may end: one copy is kept.
      return (this.#model ??= model);
    } finally {
      if (this.#loading === load) this.#loading = null;
    }
  }
}
