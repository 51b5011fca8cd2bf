/** The one alarm of an object, shared by all chores. Setting is synchronous: it commits with the writes around it. */
export class WakeUp {
  readonly #storage: DurableObjectStorage;
  #at: number | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Reads the alarm. Await it in `blockConcurrencyWhile`, before the first request. */
  async load(): Promise<void> {
    this.#at = await this.#storage.getAlarm();
  }

  /** Wakes the object at `time` (milliseconds since the epoch) or before. */
  by(time: number | null): void {
    if (time === null || (this.#at !== null && this.#at <= time)) return;
    this.#at = time;
    void this.#storage.setAlarm(time);
  }

  /** Sets the alarm again, after `deleteAll` removed it. */
  setAgain(): void {
    if (this.#at !== null) void this.#storage.setAlarm(this.#at);
  }

  /** For `restore`. */
  get at(): number | null {
    return this.#at;
  }

  /** After a rollback, which undid the alarms that it set. */
  restore(at: number | null): void {
    this.#at = at;
  }

  /** After the alarm has fired: none is set. */
  rang(): void {
    this.#at = null;
  }
}
