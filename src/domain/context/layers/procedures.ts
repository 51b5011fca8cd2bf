import { z } from "@hono/zod-openapi";
import { quoted } from "../../conversation/stored-text.ts";
import { share } from "../../schema/memory-fields.ts";
import { defineLayer, items, ofMemories, optionsOf, timeoutMs } from "./layer.ts";

const N = 5;
const MIN_SCORE = 0.3;

/** The titles of procedures that match the query, or their texts. */
export const procedures = defineLayer({
  name: "procedures",
  options: optionsOf("procedures", {
    ...ofMemories,
    n: items(100, N, "procedures"),
    minScore: share
      .optional()
      .openapi({ description: `Only procedures with at least this score; ${MIN_SCORE} unless set.` }),
    show: z.enum(["titles", "bodies"]).optional().openapi({ description: "`titles` unless set." }),
    timeoutMs,
  }),
  block: "recalled",
  share: 0.2,
  most: ({ n = N }) => n,
  search: ({ n = N, tags, minScore = MIN_SCORE, timeoutMs: ms, show }) => ({
    k: n,
    kinds: ["procedure"],
    tags,
    minScore,
    timeoutMs: ms,
    whole: show === "bodies",
  }),
  line: ({ id, title, text }, { passage }) => ({
    text: passage === undefined ? `${quoted(title ?? "")} (id: ${id})` : `${quoted(title ?? "")}: ${text}`,
  }),
});
