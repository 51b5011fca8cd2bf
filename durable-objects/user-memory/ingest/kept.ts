import type { Kept } from "./ingest-store.ts";
import type { Step } from "./next-step.ts";
import { type Look, unlooked } from "./second-look.ts";

/** Facts of failed looks that a retry asks about. More of them wait in quarantine only. */
const RETRIED = 200;

/** The rest that an ingest keeps once a step is stored, without its memories and the look at them. Null if nothing is left. */
export function keptAfter(kept: Kept, { extractor, look, left }: Step): Kept | null {
  const { looks = [], unlooked: failed = [], ...given } = kept;
  const rest = extractor === "caller" && look === undefined ? (left ?? {}) : given;
  const retried = [...failed, ...(look === undefined ? [] : [unlooked(look)])].filter(hasFacts);
  const next: Kept = {
    ...rest,
    // The first is that of the step, or has become useless.
    ...(looks.length > 1 && { looks: looks.slice(1) }),
    ...(retried.length > 0 && { unlooked: firstOf(retried) }),
  };
  return Object.keys(next).length === 0 ? null : next;
}

const hasFacts = ({ facts }: Look): boolean => facts.length > 0;

function firstOf(looks: readonly Look[]): Look[] {
  let facts = 0;
  return looks.filter((look) => (facts += look.facts.length) <= RETRIED);
}
