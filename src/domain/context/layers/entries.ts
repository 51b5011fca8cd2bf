import { z } from "@hono/zod-openapi";
import { limits } from "../../limits.ts";
import { text } from "../../schema/bounds.ts";
import { defineLayer, items, mode, optionsOf } from "./layer.ts";

const N = 20;

/** Key-value entries, by their keys. */
export const entries = defineLayer({
  name: "entries",
  options: optionsOf("entries", {
    mode,
    prefix: text(limits.key).optional(),
    keys: z.array(text(limits.key)).min(1).max(100).optional(),
    n: items(100, N, "entries, in the order of their keys"),
  }).refine(({ prefix, keys }) => (prefix === undefined) !== (keys === undefined), {
    path: ["prefix"],
    error: "or `keys` is required, and not both",
  }),
  block: "stable",
  share: 0.3,
  isRepeated: true,
  tag: "notes",
  choose: ({ prefix, keys = [], n = N }, { entries: chosen }) => chosen({ prefix, keys, n }),
});
