/** The form of an export (docs/reference/export.md). Without zod: the command line reads its first and last line with these alone. */
export const FORMAT = "cairn-export";
export const FORMAT_VERSION = 1;
/** Each line of an import counts as one of these. */
export const OUTCOMES = ["imported", "there", "expired", "leftOut"] as const;
