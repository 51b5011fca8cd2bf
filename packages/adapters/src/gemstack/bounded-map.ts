/** Values of the most recently set keys, up to a number of them. */
export class BoundedMap<T> {
  readonly #most: number;
  readonly #noted = new Map<string, T>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): T | undefined {
    return this.#noted.get(key);
  }

  set(key: string, value: T): void {
    this.#noted.delete(key);
    this.#noted.set(key, value);
    const [oldest] = this.#noted.keys();
    if (this.#noted.size > this.#most && oldest !== undefined) this.#noted.delete(oldest);
  }

  /** Returns and removes the value. */
  take(key: string): T | undefined {
    const value = this.#noted.get(key);
    this.#noted.delete(key);
    return value;
  }
}
