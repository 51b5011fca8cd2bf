// A standing instruction is among the hits of a query that it is for, though it shares few words with it.
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { append, create } from "../../thread-calls.ts";

const ASKED = Date.UTC(2026, 2, 2, 9);
const INSTRUCTION = "From now on, give me weights in grams when I ask about baking.";
const TALK = [
  "The dough for Saturday's loaf is in the fridge, it rises until the morning.",
  "My oven takes twenty minutes until it is hot enough for a sourdough.",
  "Flour from the mill in Harlow makes a heavier crumb than the one of the shop.",
  "I burned two trays of buns last week, since the timer did not ring.",
  "The course on bread starts on 14 April at seven.",
  "We bought a mixer for the bakery stall, it was cheaper than we thought.",
  "Yeast keeps for a year in the freezer, the baker said.",
  "I sold forty rolls on the market.",
  "My sister wants a rye loaf for her birthday.",
  "The tin for the loaf has rust in one corner.",
  "A friend gave me her rye starter, which I feed each evening.",
  "There was no butter in the croissants of the station.",
];

beforeEach(() => {
  control.embedsNow = true;
});
afterEach(restore);

/** A user who gave the instruction in one thread and talked about bread in many others. */
async function baker(): Promise<string> {
  const user = newUser();
  for (const [i, content] of [INSTRUCTION, ...TALK].entries()) {
    const thread = await create(user);
    await append(thread.id, [{ role: "user", content }], { createdAt: ASKED + i * 60_000 });
  }
  return user;
}
type Found = { hits: { text: string; score: number }[] };
const ask = async (user: string, query: string, more: object = {}): Promise<Found["hits"]> =>
  ((await call(`/v1/users/${user}/recall`, { json: { query, ...more } })).body as Found).hits;
const scoreOf = (hits: Found["hits"]): number => hits.find(({ text }) => text === INSTRUCTION)?.score ?? 0;
const placeOf = (hits: Found["hits"]): number => hits.findIndex(({ text }) => text === INSTRUCTION);

it("finds the instruction for what is asked, with more than its words bring", async () => {
  const user = await baker();
  const query = "Which recipe for rye bread would you suggest?";
  const hits = await ask(user, query);
  expect(placeOf(hits)).toBeGreaterThanOrEqual(0);
  expect(placeOf(hits)).toBeLessThan(5);
  const without = await ask(user, query, { weights: { instructions: 0 } });
  expect(scoreOf(hits)).toBeGreaterThan(scoreOf(without));
});

it("counts an instruction that is given again and again", async () => {
  const user = await baker();
  for (let i = 0; i < 5; i++) {
    const thread = await create(user);
    await append(thread.id, [{ role: "user", content: `${INSTRUCTION} Number ${i}, please.` }]);
  }
  const query = "Which recipe for rye bread would you suggest?";
  const without = await ask(user, query, { weights: { instructions: 0 } });
  expect(scoreOf(await ask(user, query))).toBeGreaterThan(scoreOf(without));
});

it("takes nothing from the answer beside it, and replaces no fact", async () => {
  const user = newUser();
  const flour = "My rye bread recipe has 500 grams of flour and a spoon of salt.";
  for (const [i, content] of [
    flour,
    "From now on, give me weights in grams when I ask about a bread recipe.",
  ].entries()) {
    const thread = await create(user);
    await append(thread.id, [{ role: "user", content }], { createdAt: ASKED + i * 60_000 });
  }
  const query = "Which bread recipe do I have?";
  const answerIn = (hits: Found["hits"]) => hits.find(({ text }) => text === flour);
  const answer = answerIn(await ask(user, query));
  expect(answer).not.toHaveProperty("replacedAt");
  const without = answerIn(await ask(user, query, { weights: { instructions: 0 } }));
  expect(answer?.score).toBeGreaterThanOrEqual(without?.score ?? 1);
});

it("leaves the answer in a context whose query it fits", async () => {
  const user = newUser();
  const answer = "My sister Mara lives in Porto and teaches the cello.";
  const asked = "Whenever I ask about my sister, answer in one sentence.";
  for (const [i, content] of [answer, asked].entries()) {
    const thread = await create(user);
    await append(thread.id, [{ role: "user", content }], { createdAt: ASKED + i * 60_000 });
  }
  const query = "What do you know about my sister?";
  const { body } = await call(`/v1/users/${user}/context`, { json: { query } });
  expect(body.recalled.text).toContain(answer);
  const [hits, without] = [await ask(user, query), await ask(user, query, { weights: { instructions: 0 } })];
  const scoreIn = (found: Found["hits"]) => found.find(({ text }) => text === answer)?.score;
  expect(scoreIn(hits)).toBe(scoreIn(without));
});

it("puts no instruction before what is asked for, where that is a value or lies in the past", async () => {
  const user = await baker();
  expect((await ask(user, "When does the course on bread start?"))[0]?.text).toContain("14 April");
  expect(placeOf(await ask(user, "When does the course on bread start?"))).not.toBe(0);
  expect((await ask(user, "Who gave me the rye starter?"))[0]?.text).toContain("A friend gave me");
});

it("leaves an instruction out where its thread, its kind or its time is", async () => {
  const user = await baker();
  const query = "Which recipe for rye bread would you suggest?";
  expect(placeOf(await ask(user, query, { kinds: ["fact"] }))).toBe(-1);
  const other = await create(user);
  await append(other.id, [{ role: "user", content: "Rye bread with seeds is for Friday." }]);
  expect(placeOf(await ask(user, query, { threadId: other.id }))).toBe(-1);
});
