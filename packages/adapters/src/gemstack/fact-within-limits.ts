import { truncateUtf8 } from "../bytes/truncate-utf8.ts";

const FACT_BYTES = 32 * 1024;
const TAG_BYTES = 64;
const TAGS = 32;

/** A fact and its tags within Cairn's limits, and the changes made. */
type FactWithinLimits = { text: string; tags?: string[]; changes: string[] };

export function factWithinLimits(fact: string, given: readonly string[] | undefined): FactWithinLimits {
  const text = cut(fact, FACT_BYTES);
  const changes = [
    ...(text === fact ? [] : ["the fact was cut to what 32 KiB of UTF-8 hold"]),
    ...(text.trim() === "" ? ["a fact of white space was not stored"] : []),
  ];
  if (given === undefined) return { text, changes: changes };
  const shortened = given.map((tag) => cut(tag, TAG_BYTES));
  const all = filterTags(given);
  return {
    text,
    // The SDK puts the model's tags before the app's own, and recalls filter by the latter.
    tags: all.slice(-TAGS),
    changes: [
      ...changes,
      ...(shortened.some((tag, i) => tag !== given[i])
        ? ["tags were cut to what 64 bytes of UTF-8 hold"]
        : []),
      ...(shortened.includes("") ? ["empty tags were left out"] : []),
      ...(all.length > TAGS ? [`${all.length - TAGS} of more than 32 tags were left out`] : []),
    ],
  };
}

/** Tags to filter by, cut like stored tags. */
export const filterTags = (given: readonly string[]): string[] => [
  ...new Set(given.map((tag) => cut(tag, TAG_BYTES)).filter((tag) => tag !== "")),
];

/** Removes U+0000 and lone surrogates, and cuts to the limit in bytes of UTF-8. */
const cut = (text: string, bytes: number): string => truncateUtf8(text.replaceAll("\0", ""), bytes);
