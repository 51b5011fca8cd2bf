import { z } from "@hono/zod-openapi";
import { day, oneLine, quoted } from "../../conversation/stored-text.ts";
import { limits } from "../../limits.ts";
import { text } from "../../schema/bounds.ts";
import { share } from "../../schema/memory-fields.ts";
import { recallKind } from "../../schema/recall.ts";
import { untilOf } from "../item.ts";
import { inOrderOfWorth } from "../worth-showing.ts";
import { defineLayer, items, ofMemories, optionsOf, timeoutMs } from "./layer.ts";

/** Hits: the budget is the usual end. */
const K = 50;

/** Memories and messages that recall finds. */
export const recalled = defineLayer({
  name: "recalled",
  options: optionsOf("recalled", {
    ...ofMemories,
    k: items(100, K, "memories and messages; the budget is the usual end"),
    kinds: z.array(recallKind).min(1).optional(),
    roles: z.array(text(limits.role)).min(1).max(8).optional(),
    minScore: share.optional().openapi({
      description:
        "Only hits with at least this score; a share of the best hit's unless set: a tenth, and up to 0.4 in a store of fewer than 300 documents.",
    }),
    timeoutMs,
  }),
  block: "recalled",
  share: 0.6,
  takesRest: true,
  isRepeated: true,
  decides: true,
  most: ({ k = K }) => k,
  search: ({ k, kinds, roles, tags, minScore, timeoutMs: ms }) => ({
    k: k ?? K,
    isOpen: k === undefined,
    kinds,
    roles,
    tags,
    minScore,
    timeoutMs: ms,
  }),
  line: ({ kind, title, text: whole, validFrom }, place) => {
    const [start, end] = place.passage ?? [0, whole.length];
    const named = title === null ? "" : `${quoted(title)}: `;
    return {
      text: `[${kind} | ${day(validFrom)}${untilOf(place)}] ${named}${oneLine(whole.slice(start, end))}`,
    };
  },
  order: inOrderOfWorth,
});
