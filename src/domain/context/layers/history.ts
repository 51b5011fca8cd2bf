import { limits } from "../../limits.ts";
import { defineLayer, items, optionsOf } from "./layer.ts";

/** Messages of a prompt's history unless set. */
export const HISTORY = 20;

/** The thread's last messages, in the format `messages`. */
export const history = defineLayer({
  name: "history",
  options: optionsOf("history", {
    n: items(
      limits.page,
      HISTORY,
      "messages, the last ones; of a longer thread half as many at least, so that the first one changes seldom",
    ),
  }),
  block: "messages",
  share: 1,
});
