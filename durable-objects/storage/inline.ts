/**
 * Bytes of the values that a page reads with their rows. A longer value is read by itself, when the page comes to it. So no page
 * holds more in memory than it shows, and no statement stays open: SQLite renames and drops no table meanwhile.
 */
const INLINE_BYTES = 8 * 1024;

/** SQL of a column of bytes for a page: null where the value is longer. */
export const inline = (column: string): string =>
  `IIF(length(${column}) <= ${INLINE_BYTES}, ${column}, NULL) AS ${column}`;

export const isInline = ({ byteLength }: Uint8Array): boolean => byteLength <= INLINE_BYTES;
