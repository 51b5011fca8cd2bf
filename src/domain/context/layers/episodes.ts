import { z } from "@hono/zod-openapi";
import { day, oneLine } from "../../conversation/stored-text.ts";
import { defineLayer, ofMemories, optionsOf, timeoutMs } from "./layer.ts";
import { newestFirst } from "./order.ts";

const RECENT = 5;
const SIMILAR = 3;
const some = z.int().min(0).max(100).optional();

/** The newest episodes, then those that match the query. */
export const episodes = defineLayer({
  name: "episodes",
  options: optionsOf("episodes", {
    ...ofMemories,
    recent: some.openapi({ description: `Number of the newest episodes; ${RECENT} unless set.` }),
    similar: some.openapi({
      description: `Number of episodes that match the query, besides the newest; ${SIMILAR} unless set.`,
    }),
    timeoutMs,
  }),
  block: "recalled",
  share: 0.2,
  most: ({ recent = RECENT, similar = SIMILAR }) => recent + similar,
  choose: ({ tags, recent = RECENT }, { memories }) =>
    newestFirst(memories("episode", tags))
      .slice(0, recent)
      .map((row) => ({ row })),
  search: ({ similar = SIMILAR, tags, timeoutMs: ms }) =>
    similar === 0 ? null : { k: similar, kinds: ["episode"], tags, minScore: 0, timeoutMs: ms },
  line: ({ createdAt, text }) => ({ text: `[${day(createdAt)}] ${oneLine(text)}` }),
});
