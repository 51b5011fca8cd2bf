// The work of a tenant's patterns grows with the text, and not with its square, whatever the text is.
import { expect, it } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import { compiled } from "../../../src/domain/redaction/pattern.ts";
import { redactedJson } from "../../../src/domain/redaction/redacted-json.ts";
import { ratioOfWork } from "../../node/least-work.ts";

const [SHORT, LONG] = [4_096, 33 * 1_024];
/** The ratio of the work that is allowed. */
const MOST = 12;

const redactionsOf = (pattern: string) => {
  const expression = compiled(pattern);
  if (typeof expression === "string") throw new Error(expression);
  return Array.from({ length: limits.redactions }, () => ({ expression, as: "" }));
};

it.each([
  [String.raw`\d{1,64}-\d{1,63}`, "1"],
  [String.raw`\w{64}-\w{1,63}`, "é"],
  [String.raw`[a-y]{1,64}z{1,63}\b`, "a"],
  [String.raw`\b\w{1,64}@`, "a "],
  [String.raw`\s{1,64}x`, " "],
  ["a?b?c?d?e", "abcd"],
  [String.raw`\d{16}`, '"'],
  [String.raw`\d{16}`, "\\"],
  ["\u{1F600}{1,64}x", "\u{1F600}"],
])("costs at most twelve times as much for eight times the text: %s in %j", (pattern, unit) => {
  const redactions = redactionsOf(pattern);
  const textOf = (length: number) => unit.repeat(length).slice(0, length);
  for (const jsonOf of [
    (length: number) => JSON.stringify({ text: textOf(length).toWellFormed() }),
    (length: number) => JSON.stringify(Array.from({ length: length / 8 }, () => textOf(4).toWellFormed())),
    (length: number) => `["${textOf(length)}`,
    // JSON within JSON within JSON.
    (length: number) =>
      JSON.stringify([1, 2].reduce((text) => JSON.stringify([text]), textOf(length).toWellFormed())),
  ]) {
    const [short, long] = [jsonOf(SHORT), jsonOf(LONG)];
    const ratio = ratioOfWork(
      MOST,
      () => void redactedJson(short, redactions),
      () => void redactedJson(long, redactions),
    );
    expect(ratio).toBeLessThan(MOST);
  }
});
