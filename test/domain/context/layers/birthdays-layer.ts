// A layer of a context, in the one file that a layer takes.
import { defineLayer, items, optionsOf } from "../../../../src/domain/context/layers/layer.ts";

export const birthdays = defineLayer({
  name: "birthdays",
  options: optionsOf("birthdays", { n: items(20, 3, "birthdays") }),
  block: "recalled",
  share: 0.1,
  most: ({ n = 3 }) => n,
  choose: (_, { memories }) => memories("fact", ["birthday"]).map((row) => ({ row })),
  search: ({ n = 3 }) => ({ k: n, kinds: ["fact"], minScore: 0.5, timeoutMs: undefined }),
  line: ({ subject, object }) => ({ text: `${subject}: ${object}` }),
});
