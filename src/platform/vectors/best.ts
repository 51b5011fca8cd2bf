/** The rows with the highest scores: a heap with the lowest at its root. */
export class Best {
  readonly #limit: number;
  readonly #scores: number[] = [];
  readonly #rows: number[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A row below this score is not added. */
  get least(): number {
    return this.#scores.length < this.#limit ? -Infinity : (this.#scores[0] ?? -Infinity);
  }

  get rows(): readonly number[] {
    return this.#rows;
  }

  /** Adds a row whose score is above `least`. */
  add(row: number, score: number): void {
    if (this.#scores.length < this.#limit) {
      this.#scores.push(score);
      this.#rows.push(row);
      this.#up(this.#scores.length - 1);
      return;
    }
    this.#scores[0] = score;
    this.#rows[0] = row;
    this.#down(0);
  }

  #up(start: number): void {
    for (let i = start; i > 0;) {
      const parent = (i - 1) >> 1;
      if (this.#at(parent) <= this.#at(i)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  #down(start: number): void {
    for (let i = start; ;) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      const least = this.#at(right) < this.#at(left) ? right : left;
      if (this.#at(least) >= this.#at(i)) return;
      this.#swap(i, least);
      i = least;
    }
  }

  #at(i: number): number {
    return this.#scores[i] ?? Infinity;
  }

  #swap(a: number, b: number): void {
    [this.#scores[a], this.#scores[b]] = [this.#at(b), this.#at(a)];
    [this.#rows[a], this.#rows[b]] = [this.#rows[b] ?? 0, this.#rows[a] ?? 0];
  }
}
