// The work of finding the sentence that a second look shows grows with the text, and not with its square.
import { expect, it } from "vitest";
import { sentencesOfFacts } from "../../src/domain/ingest/source-sentence.ts";

const FACTS = 20;
const [SHORT, LONG] = [4_096, 33 * 1_024];
/** The ratio of the work that is allowed, and the least milliseconds that tell anything. */
const [MOST, LEAST] = [12, 4];
const RUNS = 5;

/** The CPU that the facts of a message take: the least of some runs, as other work of the machine is in the others. */
function work(unit: string, length: number): number {
  const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  const object = unit.repeat(8).slice(0, 300);
  const message = { seq: 1, role: "user", speaker: null, isOwner: true, text, at: 0 };
  const before = { ...message, seq: 0, role: "assistant" };
  const runs = Array.from({ length: RUNS }, () => {
    const start = process.cpuUsage();
    const sentenceOf = sentencesOfFacts([before, message]);
    for (let i = 0; i < FACTS; i++)
      sentenceOf({ subject: "user", predicate: "likes", object, sources: [0, 1] });
    return process.cpuUsage(start).user / 1_000;
  });
  return Math.min(...runs);
}

it.each([
  "I like tea. ",
  "tea? ",
  "a.",
  "a;\n",
  "…",
  '"tea" ',
  "`",
  "it says: ",
  "Dr. ",
  "茶が好きです。",
  "x",
  " ",
  "\u0301",
])("costs at most twelve times as much for eight times the text: %j", (unit) => {
  const [short, long] = [work(unit, SHORT), work(unit, LONG)];
  expect(long).toBeLessThan(MOST * Math.max(short, LEAST));
});
