import { limits } from "../../src/domain/limits.ts";
import { raw, type SqlPart } from "./sql.ts";

/**
 * Bytes of the values that a page reads with their rows. A longer value is read by itself, when the page comes to it. So no page
 * holds more in memory than it shows, and no statement stays open: SQLite renames and drops no table meanwhile.
 */
const INLINE_BYTES = 8 * 1024;

/** SQL of a column of bytes for a page: null where the value is longer. */
export const inline = (column: string): SqlPart =>
  raw(`IIF(length(${column}) <= ${INLINE_BYTES}, ${column}, NULL) AS ${column}`);

export const isInline = ({ byteLength }: Uint8Array): boolean => byteLength <= INLINE_BYTES;

/**
 * The rows of a page: at most `limit`, and no more `bytes` than a page takes, but one row in any case. `rows` has one more than the
 * limit if there are more.
 */
export function withinPage<Row extends { bytes?: number }>(
  rows: readonly Row[],
  limit: number,
): { shown: readonly Row[]; more: boolean } {
  let size = 0;
  const end = rows.findIndex(({ bytes = 0 }, i) => {
    size += bytes;
    return i === limit || (i > 0 && size > limits.pageBytes);
  });
  return end === -1 ? { shown: rows, more: false } : { shown: rows.slice(0, end), more: true };
}
