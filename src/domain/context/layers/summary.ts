import { defineLayer, mode, optionsOf } from "./layer.ts";

/** The thread's compactions, the last first. */
export const summary = defineLayer({
  name: "summary",
  options: optionsOf("summary", { mode }),
  block: "stable",
  share: 0.3,
  isInHistory: true,
  choose: (_, { summaries }) => summaries(),
});
