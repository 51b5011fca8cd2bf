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

  /** Sets it once more, where the storage was deleted with it. */
  setAgain(): void {
    if (this.#at !== null) void this.#storage.setAlarm(this.#at);
  }

  /** What is set now, for `restore`. */
  get at(): number | null {
    return this.#at;
  }

  /** Says that a transaction was undone, and with it the alarms that were set in it. */
  restore(at: number | null): void {
    this.#at = at;
  }

  /** Says that the alarm has gone off: none is set now. */
  rang(): void {
    this.#at = null;
  }
}
