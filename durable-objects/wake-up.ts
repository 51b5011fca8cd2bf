/**
 * The one alarm of an object, shared by all that wants to be done later. Setting is synchronous, so that it
 * joins the writes around it in one atomic commit.
 */
export class WakeUp {
  readonly #storage: DurableObjectStorage;
  #at: number | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Reads the alarm that is set. To be awaited before the first request, by `blockConcurrencyWhile`. */
  async load(): Promise<void> {
    this.#at = await this.#storage.getAlarm();
  }

  /** Wakes the object at `time` (milliseconds since the epoch) or before. */
  by(time: number | null): void {
    if (time === null || (this.#at !== null && this.#at <= time)) return;
    this.#at = time;
    void this.#storage.setAlarm(time);
  }

  /** Says that the alarm has gone off: none is set now. */
  rang(): void {
    this.#at = null;
  }
}
