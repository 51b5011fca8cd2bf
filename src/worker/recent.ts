/**
 * The last value of something, for some milliseconds. It holds no promise, since one belongs to its request: calls that come
 * before the first value each read it.
 */
export class Recent<T> {
  readonly #lifeMs: number;
  #known: { value: T; at: number } | null = null;

  constructor(lifeMs: number) {
    this.#lifeMs = lifeMs;
  }

  async get(now: number, read: () => Promise<T>): Promise<T> {
    const known = this.#known;
    if (known !== null && now >= known.at && now - known.at < this.#lifeMs) return known.value;
    const value = await read();
    this.#known = { value, at: now };
    return value;
  }
}
