import fc from "fast-check";
import { expect, it } from "vitest";
import { asksNothing } from "../../../src/domain/ranking/courtesy.ts";
import { passagesOf } from "../../../src/domain/ranking/passages.ts";
import { StatementReader } from "../../../src/domain/ranking/statements.ts";
import { withoutRepeats } from "../../../src/domain/ranking/repeats.ts";

it("cuts a long text at lines and sentences into passages that follow each other", () => {
  const line = `${"Some words of a sentence go here. ".repeat(5).trim()}\n`;
  const text = `# Title\n${line.repeat(6)}- an item\n- another one\n`;
  const passages = passagesOf(text).map(({ start, end }) => text.slice(start, end));
  expect(passages.join("")).toBe(text);
  expect(passages.every((passage) => passage.length <= 300)).toBe(true);
  expect(passages.every((passage) => /[.\n]\s*$/.test(passage))).toBe(true);
});

it("loses no character of any text, and cuts none in two", () => {
  const part = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom(" ", "\n", ". ", "。", "😀".repeat(200)),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const text = parts.join("");
      const passages = passagesOf(text);
      expect(passages.map(({ start, end }) => text.slice(start, end)).join("")).toBe(text);
      for (const { start, end } of passages) {
        expect(end - start).toBeLessThanOrEqual(450);
        expect(text.slice(start, end).isWellFormed()).toBe(true);
      }
    }),
  );
});

// A search that begins anew at each mark would take minutes.
it.each(["!", "。", "'", " ", "a", ".'"])("cuts a long run of %j", (piece) => {
  const text = piece.repeat(200_000 / piece.length);
  expect(passagesOf(text).at(-1)?.end).toBe(text.length);
});

it.each([
  ["Where do I live?", true],
  ["hey, what's my home town again", true],
  ["Remind me which city I live in. Is it Lisbon?", true],
  ["我住在哪里？", true],
  ["Christmas lights - where?", true],
  ["Could you look it up, please?", true],
  ["Need the alarm code!", true],
  ["I can never remember which spice it was.", true],
  ["我住在里斯本。你呢？", false],
  ["I'm moving to Lisbon. Where should I live?", false],
  ["I moved to Lisbon in March.", false],
  ["My sister is coeliac, what could I bake?", false],
  ["The village hall, how much is it?", true],
  ["Which cake can I bake for Mira, since she can't have nuts?", false],
  ["What should I wear to the gala? The invitation says black tie.", false],
  ["How do I fix this?\n```js\nconst a = 1;\n```", false],
  ["I have no information about payment terms.", false],
  ["May lives in Bath.", false],
  ["", true],
])("tells if %j only asks", (text, only) => {
  expect(new StatementReader().statementsOf(text, "user", new Set()).onlyAsks).toBe(only);
});

it.each([
  ["thanks!", true],
  ["Good morning", true],
  ["ok cool", true],
  ["haha, see you tomorrow", true],
  ["Hi there, how are you?", true],
  ["Who thanked me?", false],
  ["What day is it?", false],
  ["got it, great work", true],
  ["oops, wrong window", true],
  ["oops, which window?", false],
  ["haha, Lisbon", false],
  ["yes please, go ahead", true],
  ["my day", false],
  ["work", false],
  ["coffee", false],
  ["???", false],
  ["他对什么过敏", false],
])("tells if %j asks nothing", (text, nothing) => {
  expect(asksNothing(text)).toBe(nothing);
});

it("counts what a memory and messages say alike once, the memory first", () => {
  const hits = [
    { isMessage: true, text: "I moved to Lisbon in March." },
    { isMessage: true, text: "Lisbon has trams." },
    { isMessage: false, text: "The user moved to Lisbon in March." },
    { isMessage: true, text: "In March I moved to Lisbon!" },
  ];
  expect(withoutRepeats(hits, (hit) => hit)).toEqual([hits[2], hits[1]]);
});
