import { defineLayer, items, mode, ofMemories, optionsOf } from "./layer.ts";
import { newestFirst } from "./order.ts";

const N = 3;

export const reflections = defineLayer({
  name: "reflections",
  options: optionsOf("reflections", {
    mode,
    ...ofMemories,
    n: items(100, N, "reflections, the newest first"),
  }),
  block: "stable",
  share: 0.1,
  most: ({ n = N }) => n,
  choose: ({ tags }, { memories }) => newestFirst(memories("reflection", tags)).map((row) => ({ row })),
});
