/** A map that holds on to the `size` keys that came last, so that what an isolate remembers has an end. */
export class Recent<V> {
  readonly #size: number;
  readonly #values = new Map<string, V>();

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    // A Map is in the order of insertion: the first key is the oldest.
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#size && oldest !== undefined) this.#values.delete(oldest);
  }
}
