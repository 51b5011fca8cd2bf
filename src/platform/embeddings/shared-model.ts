import { DeadlineExceeded, withDeadline } from "../deadline.ts";
import type { Assets } from "./assets.ts";
import { EMBED_DEADLINE_MS } from "./embedder.ts";

/** The interval at which a caller checks whether another one has loaded the model. */
const LOOK_AGAIN_MS = 10;
/** A load takes some 100 ms. A longer one belongs to a request or an object that ended. */
const TAKE_OVER_MS = 3_000;

/**
 * A model of an isolate, loaded once, by the first caller. The others poll, because they may belong to other objects: an
 * object cannot await the promise of another one.
 */
export class SharedModel<Model extends object> {
  readonly #read: (assets: Assets) => Promise<Model>;
  readonly #takeOverMs: number;
  #model: Model | null = null;
  /** The load under way, by its identity. It may never end. */
  #loading: object | null = null;

  constructor(read: (assets: Assets) => Promise<Model>, { takeOverMs = TAKE_OVER_MS } = {}) {
    this.#read = read;
    this.#takeOverMs = takeOverMs;
  }

  /** Null until a first call has loaded it. */
  get loaded(): Model | null {
    return this.#model;
  }

  /** Rejects with `DeadlineExceeded` after `withinMs`, and where the model is not among the assets. */
  async get(assets: Assets, withinMs = EMBED_DEADLINE_MS): Promise<Model> {
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

  async #load(assets: Assets, withinMs: number): Promise<Model> {
    const load = {};
    this.#loading = load;
    try {
      const model = await withDeadline(this.#read(assets), withinMs);
      // Two loads may end: one copy is kept.
      return (this.#model ??= model);
    } finally {
      if (this.#loading === load) this.#loading = null;
    }
  }
}
