import { entries } from "./entries.ts";
import { episodes } from "./episodes.ts";
import { facts } from "./facts.ts";
import { history } from "./history.ts";
import { instructions } from "./instructions.ts";
import { procedures } from "./procedures.ts";
import { profile } from "./profile.ts";
import { recalled } from "./recalled.ts";
import { reflections } from "./reflections.ts";
import { summary } from "./summary.ts";

/** The layers of a context. The schema of a request, its plan and the user's object take from this list all that they know of a layer. */
export const layers = [
  instructions,
  profile,
  facts,
  reflections,
  procedures,
  episodes,
  entries,
  summary,
  recalled,
  history,
] as const;
