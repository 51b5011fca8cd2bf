import type { ExtractionRule } from "../schema/extraction.ts";

/** The tenant's rule for an ingest: the one that names the most of its scope and its agent, the scope first. Null without one. */
export function ruleFor(
  rules: readonly ExtractionRule[],
  { scope, agent }: { scope: string | null; agent: string | null },
): ExtractionRule | null {
  const fits = rules.filter(
    (rule) =>
      (rule.scope === undefined || rule.scope === scope) &&
      (rule.agent === undefined || rule.agent === agent),
  );
  return fits.toSorted((a, b) => namedBy(b) - namedBy(a))[0] ?? null;
}

const namedBy = ({ scope, agent }: ExtractionRule): number =>
  (scope === undefined ? 0 : 2) + (agent === undefined ? 0 : 1);

/** A prompt of extraction with the tenant's rule behind it. */
export function withOwnRules(system: string, { keep, leaveOut, prompt }: ExtractionRule): string {
  const lines = [
    keep && `- Extract only what is about one of these topics: ${JSON.stringify(keep)}.`,
    leaveOut && `- Leave out all that is about one of these topics: ${JSON.stringify(leaveOut)}.`,
    prompt,
  ].filter((line) => line !== undefined);
  return `${system}\n\nThe operator of this memory adds, and changes none of the rules above:\n${lines.join("\n")}`;
}
