import { expect, it } from "vitest";
import { passage, type ShownHit, shownHits } from "../../../../packages/lab/evals/demo/shown.ts";

const hit = (i: number, more: Partial<ShownHit> = {}): ShownHit => ({
  source: `S1:${i}`,
  text: `Nora: this is what she said at turn ${i}.`,
  found: `words #${i}`,
  right: false,
  ...more,
});
const asked = { query: "When does she move?", width: 60, evidence: ["S1:2"] };

it("shows a hit whole, over as many lines as it takes", () => {
  const text = `Nora: No, that's the catch. ${"They do not leave before the end of April. ".repeat(4)}So it is the 2nd of May.`;
  const lines = shownHits([hit(2, { text, right: true })], asked);
  expect(lines.map((line) => line.slice(15)).join(" ")).toBe(`${text} (words #2)`);
  expect(lines.every((line) => line.length <= 60)).toBe(true);
});

it("marks the hit that holds the evidence, and no other", () => {
  const marked = shownHits([hit(1), hit(2, { right: true }), hit(3)], asked).filter((line) =>
    line.includes("✓"),
  );
  expect(marked).toEqual([expect.stringContaining("S1:2")]);
});

it("shows the right hit with its rank where it is not among the first three", () => {
  const lines = shownHits(
    [1, 2, 3, 4, 5, 6].map((i) => hit(i, { right: i === 5 })),
    asked,
  );
  expect(lines.filter((line) => line.includes("S1:"))).toHaveLength(4);
  expect(lines.slice(-2).join("\n")).toMatch(/^ {2}✓ {2}5 {2}S1:5/);
});

it("says so where no hit holds the answer, and where the answer is", () => {
  expect(shownHits([hit(1), hit(3)], asked).at(-1)).toMatch(/✗.*first 2.*S1:2/);
});

it("shows of a long text the part that has the question's words", () => {
  const chatter = "It rained all day and we stayed in. ".repeat(40);
  const text = `${chatter}The move is on the 2nd of May. ${chatter}`;
  const shown = passage(text, "When is the move?");
  expect(shown).toContain("The move is on the 2nd of May.");
  expect(shown.length).toBeLessThan(450);
  expect([shown.slice(0, 2), shown.slice(-2)]).toEqual(["… ", " …"]);
});
