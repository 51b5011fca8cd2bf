// The checks of an ingest read a hostile text at no more than twelve times the CPU of a plain one of its length.
import { expect, it } from "vitest";
import { checksAgainst } from "../../../../src/domain/ingest/checks/check-proposal.ts";
import { factOf, windowOf } from "../../../../packages/lab/evals/statement.ts";
import { ratioOfWork } from "../../../node/least-work.ts";

/** Facts that cite one message, as many as a model finds in it. */
const FACTS = 5;
const fact = factOf(["user", "lives in", "Porto"], [1]);

type Said = readonly (readonly [role: string, text: string])[];

const checkAll = (said: Said) => () => {
  const check = checksAgainst(windowOf(said));
  for (let i = 0; i < FACTS; i++) check("fact", fact);
};

const MOST = 12;
const ratioTo = (least: Said, hostile: Said): number => ratioOfWork(MOST, checkAll(least), checkAll(hostile));

const plain = (length: number) => "I walked to the lake. ".repeat(length / 22 + 1).slice(0, length);
const code = `${"=".repeat(200)}${";//".repeat(330)}`;

it.each([
  ["code that a line separator ends", `${code}\u2028`],
  ["code that a paragraph separator ends", `${code}\u2029`],
  ["code that a carriage return ends", `${code}\r`],
  ["a quoted line with a line separator", `> ${"a ".repeat(590)}\u2028.`],
  ["a role before spaces", `user${" ".repeat(1_190)}x`],
  ["a rule that is none", `${"=".repeat(1_190)}x`],
  ["low quotation marks", `${"„".repeat(1_190)}x`],
  ["single quotation marks", `${"‘".repeat(1_190)}x`],
])("in nine lines of a user: %s", (_, line) => {
  const ofUser = (one: string) => [["user", ["I live in Porto.", ...Array(9).fill(one)].join("\n")]] as const;
  expect(ratioTo(ofUser(plain(line.length)), ofUser(line))).toBeLessThan(MOST);
});

it.each(["?", "?!", '?"', "؟)"])("in a row of %s of an assistant", (mark) => {
  const asked = (text: string) =>
    [
      ["user", "I live in Porto."],
      ["assistant", text],
      ["user", "Not really."],
    ] as const;
  const text = `${mark.repeat(24_000 / mark.length - 1)}a`;
  expect(ratioTo(asked(plain(text.length)), asked(text))).toBeLessThan(MOST);
});
