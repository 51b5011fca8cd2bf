import type { Quantised } from "./int8.ts";

/** One row for each document, in no order, with room that grows by half up to a capacity. */
export abstract class RowTable {
  /** The most rows. */
  readonly capacity: number;
  /** The document of each row. */
  protected ids: number[] = [];
  protected room: number;

  constructor(capacity: number, room: number) {
    this.capacity = capacity;
    this.room = Math.min(room, capacity);
  }

  protected abstract rowOf(n: number): number | undefined;
  protected abstract write(row: number, vector: Quantised): void;
  protected abstract move(from: number, to: number): void;
  protected abstract resize(room: number): void;
  protected abstract bytesFor(room: number): number;

  get bytes(): number {
    return this.bytesFor(this.room);
  }

  /** The bytes that the row of document `n` adds. */
  growthFor(n: number): number {
    if (this.size < this.room) return 0;
    const growth = this.bytesFor(this.#grownRoom) - this.bytes;
    // A load asks for each document, also once there is no more room: only one that may grow the table is looked for.
    return growth > 0 && this.has(n) ? 0 : growth;
  }

  get size(): number {
    return this.ids.length;
  }

  get documents(): readonly number[] {
    return this.ids;
  }

  has(n: number): boolean {
    return this.rowOf(n) !== undefined;
  }

  /** Puts or replaces the row of document `n`; false if there is no room for it. */
  set(n: number, vector: Quantised): boolean {
    const row = this.rowOf(n);
    if (row === undefined) return this.add(n, vector);
    this.write(row, vector);
    return true;
  }

  /** Puts the row of a document that has none. */
  add(n: number, vector: Quantised): boolean {
    if (this.size === this.capacity) return false;
    if (this.size === this.room) {
      const room = this.#grownRoom;
      this.resize(room);
      // Behind what may have no memory.
      this.room = room;
    }
    this.write(this.ids.push(n) - 1, vector);
    return true;
  }

  /** The last row moves to the place of the deleted one. */
  delete(n: number): void {
    const row = this.rowOf(n);
    const last = this.ids.at(-1);
    if (row === undefined || last === undefined) return;
    this.move(this.size - 1, row);
    this.ids[row] = last;
    this.ids.pop();
  }

  get #grownRoom(): number {
    return Math.min(Math.ceil(this.room * 1.5), this.capacity);
  }
}
