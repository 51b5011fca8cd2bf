import { defineLayer, items, mode, optionsOf } from "./layer.ts";

const N = 20;

/** The user's standing instructions and preferences, in their own words. */
export const instructions = defineLayer({
  name: "instructions",
  options: optionsOf("instructions", {
    mode,
    n: items(100, N, "standing instructions and preferences of the user"),
  }),
  block: "stable",
  share: 0.15,
  most: ({ n = N }) => n,
  // A message has no scope.
  choose: (_, { scope, instructions: holding }) => (scope === undefined ? holding() : []),
});
