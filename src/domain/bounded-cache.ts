/** The greatest total weight, and the weight of one value. */
type Bound<V> = { most: number; of: (value: V, key: string) => number };

/**
 * A map of the `size` keys set last, or of fewer where their weight exceeds the bound. A value over the bound by itself is
 * not kept.
 */
export class BoundedCache<V> {
  readonly #size: number;
  readonly #bound: Bound<V> | null;
  readonly #values = new Map<string, V>();
  #total = 0;

  constructor(size: number, bound: Bound<V> | null = null) {
    this.#size = size;
    this.#bound = bound;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    this.#delete(key);
    this.#values.set(key, value);
    this.#total += this.#weight(key, value);
    // A Map is in the order of insertion: the first key is the oldest.
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#size && this.#total <= (this.#bound?.most ?? Infinity)) return;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#total -= this.#weight(key, value);
    this.#values.delete(key);
  }

  #weight(key: string, value: V): number {
    return this.#bound?.of(value, key) ?? 0;
  }
}
