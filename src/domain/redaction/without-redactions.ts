import type { RedactionRule } from "../schema/extraction.ts";
import { compiled } from "./pattern.ts";
import { redactedJson } from "./redacted-json.ts";

/** Stands in the place of a match, unless the tenant says otherwise. */
export const AS = "[redacted]";

/**
 * A function that takes out of JSON what the patterns match, and what stands in the place of matches. Two messages that are equal but for
 * the patterns that held when each came become equal. Null without patterns.
 */
export function withoutRedactions(rules: readonly RedactionRule[]): ((json: string) => string) | null {
  if (rules.length === 0) return null;
  const texts = rules.map(({ as = AS }) => as).filter((as) => as !== "");
  const expressions = [
    ...rules.map(({ pattern }) => compiled(pattern)),
    ...[...new Set(texts)].map((as) => new RegExp(as.replace(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&"), "gu")),
  ];
  const redactions = expressions.flatMap((expression) =>
    typeof expression === "string" ? [] : [{ expression, as: "" }],
  );
  return (json) => redactedJson(json, redactions) ?? json;
}
