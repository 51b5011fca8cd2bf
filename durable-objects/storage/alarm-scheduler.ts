/** The one alarm of an object, which all its chores share. It is set synchronously, and so commits with the writes around it. */
export class AlarmScheduler {
  readonly #storage: DurableObjectStorage;
  #at: number | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Reads the alarm from the storage. Await it before the first request, by `blockConcurrencyWhile`. */
  async load(): Promise<void> {
    this.#at = await this.#storage.getAlarm();
  }

  /** Sets the alarm to `time` (milliseconds since the epoch), unless it is set to an earlier one. */
  scheduleBy(time: number | null): void {
    if (time === null || (this.#at !== null && this.#at <= time)) return;
    this.#at = time;
    void this.#storage.setAlarm(time);
  }

  /** Sets the alarm again after the storage was deleted. */
  setAgain(): void {
    if (this.#at !== null) void this.#storage.setAlarm(this.#at);
  }

  /** When the alarm goes off; null if none is set. */
  get at(): number | null {
    return this.#at;
  }

  /** Returns to this time after a rollback. */
  restore(at: number | null): void {
    this.#at = at;
  }

  /** The alarm went off: none is set now. */
  fired(): void {
    this.#at = null;
  }
}
