import { limits } from "../../../domain/limits.ts";
import type { RecallAnswer } from "../../../domain/schema/recall.ts";
import type { Access } from "../access.ts";

/** Tells the model of parts that failed, which is not the same as nothing found. */
export const notesOnSearch = ({ degraded, arms, cut }: RecallAnswer): string[] => [
  ...(cut ? ["The query is long: only its first and its last 4 KiB were used."] : []),
  ...(degraded
    ? [
        `A part of the search did not answer (${arms
          .filter(({ status }) => status === "failed" || status === "late")
          .map(({ name }) => name)
          .join(", ")}), so more may be stored: try again soon.`,
      ]
    : []),
];

/** Tells the model of shared owners that were not searched, as the token names too many. */
export function notesOnOwners({ shared }: Access, requested: readonly string[] | undefined): string[] {
  const left = requested === undefined ? shared.slice(limits.owners) : [];
  return left.length === 0
    ? []
    : [`Not searched: ${left.map((owner) => JSON.stringify(owner)).join(", ")}. Name them in \`owners\`.`];
}
