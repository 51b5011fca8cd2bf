import type { Feature, FeatureTable } from "./features.ts";
import type { Reading } from "./judgement.ts";

/** The things that a hit shares with the query, the most telling first. */
const SHARED: readonly (readonly [Feature, string])[] = [
  ["exact", "It has words of the query."],
  ["soft", "It has words like those of the query."],
  ["vector", "Its meaning is near the query."],
  ["softNear", "It stands beside a message that fits the query."],
];
/** The share of the best match from which one counts as a reason. */
const CLEAR = 0.5;

/** One plain sentence that says why a candidate is where it is. */
export function reasonOf(table: FeatureTable, i: number, reading: Reading | undefined): string {
  const value = (name: Feature): number => table[name][i] ?? 0;
  switch (reading?.reason) {
    case "echo":
      return "It asks what the query asks, and says no more.";
    case "request":
      return "It asks, and states nothing.";
    case "earlier":
      return "It was so before, as the query asks.";
    default:
  }
  // A change may have been changed again.
  if (reading?.replacedAt !== undefined) {
    const day = new Date(reading.replacedAt).toISOString().slice(0, 10);
    return `A later statement, of ${day}, seems to replace it.`;
  }
  if (reading?.reason === "later") return "It is the latest statement on this matter.";
  if (value("key") > CLEAR) return "The query names it.";
  if (value("date") < 0) return "Another version was true at the time that the query names.";
  if (value("date") > CLEAR) return "It is of the time that the query names.";
  if (value("applies") > CLEAR) return "It says how its user wants such a question answered.";
  const shared = SHARED.find(([name]) => value(name) >= CLEAR) ?? SHARED.find(([name]) => value(name) > 0);
  return shared?.[1] ?? "It is among the nearest, and shares little with the query.";
}
