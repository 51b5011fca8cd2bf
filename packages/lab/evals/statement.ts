import { checkProposal } from "#domain/ingest/checks/check-proposal.ts";
import type { Reason } from "#domain/ingest/checks/reasons.ts";
import type { FactProposal, SourceMessage } from "#domain/ingest/proposal.ts";
import { sourceMessage } from "./source-message.ts";

/**
 * What somebody says, and a fact that is made of it. `said`: messages, each with its role, its text and the name of who wrote it. `fact`: subject, predicate and object.
 * `sources`: the places of the messages that it cites. `by`, `kind`: of a user who says the fact, or why no message says it.
 */
export type Statement = {
  by?: string;
  kind?: string;
  language: string;
  said: string[][];
  fact: string[];
  sources: number[];
};

export const windowOf = (said: readonly (readonly string[])[]): SourceMessage[] =>
  said.map(([role = "user", text = "", speaker = null], i) =>
    sourceMessage({ seq: i + 1, role, text, speaker, at: 1_763_760_000_000 + i * 1000 }),
  );

export const factOf = (
  [subject = "", predicate = "", object = ""]: readonly string[],
  sources: readonly number[],
): FactProposal => ({ subject, predicate, object, sources });

/** The reasons against the fact of a statement. */
export const reasonsAgainst = ({ said, fact, sources }: Statement): Reason[] =>
  checkProposal(
    "fact",
    factOf(
      fact,
      sources.map((place) => place + 1),
    ),
    windowOf(said),
  );

/** Statements by their group: who says it, in English; what is wrong with it; and other languages. */
export function inGroups<T extends Statement>(statements: readonly T[]): [group: string, statements: T[]][] {
  const groups = new Map<string, T[]>();
  for (const one of statements) {
    const group = one.kind ?? (one.language === "en" ? one.by : undefined) ?? "other languages";
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  return [...groups];
}
