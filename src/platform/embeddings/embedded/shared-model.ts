import { DeadlineExceeded, withDeadline } from "../../deadline.ts";
import { WITHIN_MS } from "../embedder.ts";
import { type Assets, type EmbeddedModel, loadModel } from "./model.ts";

export const MODEL_NAME = "static-en-256";

/** The interval at which a caller checks whether another one has loaded the model. */
const LOOK_AGAIN_MS = 10;
/** A load takes some 100 ms. One that takes longer than this belongs to a request or an object that is gone. */
const TAKE_OVER_MS = 3_000;

/**
 * The word model of an isolate: 7 MB, loaded once. The first caller loads it. The others look for the result again and
 * again, because they may belong to other objects: the platform lets no object await the promise of another one.
 */
export class SharedModel {
  readonly #takeOverMs: number;
  #model: EmbeddedModel | null = null;
  /** The load under way, by its identity. It may never end. */
  #loading: object | null = null;

  constructor({ takeOverMs = TAKE_OVER_MS } = {}) {
    this.#takeOverMs = takeOverMs;
  }

  /** Rejects with `DeadlineExceeded` after `withinMs`, and where the model is not among the assets. */
  async get(assets: Assets, withinMs = WITHIN_MS): Promise<EmbeddedModel> {
    let [waited, watched, watchedMs] = [0, this.#loading, 0];
    // The timers are counted, as the clock stands still while nothing is waited for.
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
      // One copy, also where two have loaded it.
      return (this.#model ??= model);
    } finally {
      if (this.#loading === load) this.#loading = null;
    }
  }
}
