import { day } from "../../conversation/stored-text.ts";
import { factChoices } from "./facts.ts";
import { defineLayer, items, mode, ofMemories, optionsOf } from "./layer.ts";

const N = 40;

/** Facts with subject and predicate, one line per subject. */
export const profile = defineLayer({
  name: "profile",
  options: optionsOf("profile", { mode, ...ofMemories, n: items(200, N, "facts") }),
  block: "stable",
  share: 0.2,
  most: ({ n = N }) => n,
  choose: ({ tags }, source) =>
    factChoices(
      source
        .memories("fact", tags)
        .filter(({ subject, predicate }) => subject !== null && predicate !== null),
      source,
    ),
  line: ({ subject, predicate, object, validFrom }, { replaces }) => ({
    subject: subject ?? "",
    text: `${predicate} ${object ?? ""}`.trim() + (replaces === true ? ` (since ${day(validFrom)})` : ""),
  }),
});
