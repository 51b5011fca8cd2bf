import { limits } from "../../../domain/limits.ts";
import type { RecallAnswer } from "../../../domain/schema/recall.ts";
import type { Access } from "../access.ts";

/** What an answer lacks, said to the model: a part that failed is not the same as nothing found. */
export const incomplete = ({ degraded, arms, cut }: RecallAnswer): string[] => [
  ...(cut ? ["The query is long: its first and its last 4 KiB were searched by."] : []),
  ...(degraded
    ? [
        `A part of the search did not answer (${arms
          .filter(({ status }) => status === "failed" || status === "late")
          .map(({ name }) => name)
          .join(", ")}), so there may be more: try again soon.`,
      ]
    : []),
];

/** The shared owners that were not asked because there are too many. */
export function besides({ shared }: Access, wanted: readonly string[] | undefined): string[] {
  const left = wanted === undefined ? shared.slice(limits.owners) : [];
  return left.length === 0
    ? []
    : [`Not asked: ${left.map((owner) => JSON.stringify(owner)).join(", ")}. Name them in \`owners\`.`];
}
