// The example conversations: that what their questions name exists, and that each file has enough of every kind.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bySession, readCorpora } from "../../packages/lab/evals/dataset.ts";
import { authorOf, readConversations, turnsOf } from "../../packages/lab/evals/demo/conversation.ts";

const folder = join(import.meta.dirname, "../../examples");
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
/** The newer files are of people and assistants, and have kinds of questions. */
const withKinds = ["coding-agent.json", "home-cook.json", "support-case.json"];

const ANSWERABLE = [
  "fact",
  "assistant",
  "preference",
  "update",
  "temporal",
  "list",
  "multi-hop",
  "paraphrase",
  "name",
  "number",
  "echo",
];
const UNANSWERABLE = ["abstention", "off-topic", "small-talk"];

const only = (name: string) => {
  const [conversation, ...others] = readConversations(join(folder, name));
  if (conversation === undefined || others.length > 0) throw new Error(`${name} has not one conversation`);
  return conversation;
};
const repeated = (all: readonly string[]) => all.filter((one, i) => all.indexOf(one) !== i);
const words = (text: string) =>
  text
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.join(" ") ?? "";

describe.each(files)("examples/%s", (name) => {
  const conversation = only(name);
  const turns = turnsOf(conversation);
  const { facts, questions } = conversation;
  const place = new Map(turns.map(({ id }, i) => [id, i]));

  it("has ids that occur once", () => {
    expect(repeated([...turns, ...facts].map(({ id }) => id))).toEqual([]);
    expect(repeated(questions.map(({ question }) => question))).toEqual([]);
  });

  it("has sessions in the order of their dates", () => {
    const dates = conversation.sessions.map(({ date }) => date ?? "");
    expect(dates).toEqual(dates.toSorted());
    expect(dates.every((date) => /^\d{4}-\d\d-\d\d$/.test(date))).toBe(true);
  });

  it("names evidence that exists, and no fact that another takes the place of", () => {
    const outdated = new Set(facts.map(({ replaces }) => replaces));
    const current = facts.filter(({ id }) => !outdated.has(id)).map(({ id }) => id);
    const known = new Set([...place.keys(), ...current]);
    for (const { question, evidence } of questions)
      expect(
        evidence.filter((id) => !known.has(id)),
        question,
      ).toEqual([]);
    const named = facts.flatMap(({ evidence }) => evidence);
    expect(named.filter((turn) => !place.has(turn))).toEqual([]);
    const ids = facts.map(({ id }) => id);
    expect([...outdated].filter((id) => id !== undefined && !ids.includes(id))).toEqual([]);
  });

  it("asks nothing in the words of a turn", () => {
    const said = new Set(turns.map(({ text }) => words(text)));
    const asked = questions.filter(({ type }) => type !== "echo").map(({ question }) => words(question));
    expect(asked.filter((one) => said.has(one))).toEqual([]);
  });
});

describe.each(withKinds)("examples/%s", (name) => {
  const conversation = only(name);
  const turns = turnsOf(conversation);
  const { facts, questions, sessions } = conversation;
  const place = new Map(turns.map(({ id }, i) => [id, i]));
  const ofType = (type: string) => questions.filter((one) => one.type === type);

  it("has as many sessions, facts and questions as it takes", () => {
    expect(sessions.length).toBeGreaterThanOrEqual(8);
    expect(turns.every(({ role }) => role !== undefined)).toBe(true);
    expect(facts.length).toBeGreaterThanOrEqual(8);
    expect(facts.length).toBeLessThanOrEqual(20);
    expect(questions.length).toBeGreaterThanOrEqual(50);
  });

  it("has questions of each kind, and of no other", () => {
    expect(questions.filter(({ type = "" }) => ![...ANSWERABLE, ...UNANSWERABLE].includes(type))).toEqual([]);
    for (const type of ANSWERABLE) expect(ofType(type).length, type).toBeGreaterThanOrEqual(2);
    for (const type of UNANSWERABLE) expect(ofType(type).length, type).toBeGreaterThanOrEqual(4);
  });

  it("has evidence for what can be answered, and for nothing else", () => {
    for (const { question, type = "", answerable, evidence } of questions) {
      expect(answerable, question).toBe(ANSWERABLE.includes(type));
      expect(evidence.length > 0, question).toBe(answerable);
    }
  });

  it("names the turn of each fact that it names", () => {
    const sources = new Map(facts.map(({ id, evidence }) => [id, evidence]));
    for (const { question, evidence } of questions) {
      const taken = evidence.map((id) => sources.get(id) ?? []).filter((from) => from.length > 0);
      expect(
        taken.filter((from) => !from.some((turn) => evidence.includes(turn))),
        question,
      ).toEqual([]);
    }
  });

  it("has the newest statement as the evidence of an update", () => {
    const factOf = new Map(facts.map((fact) => [fact.id, fact]));
    for (const { question, evidence } of ofType("update")) {
      const newest = evidence.map((id) => factOf.get(id)).find((fact) => fact !== undefined);
      const former = factOf.get(newest?.replaces ?? "");
      expect(former, question).toBeDefined();
      const last = Math.max(...(former?.evidence ?? []).map((id) => place.get(id) ?? 0));
      expect(
        evidence.filter((id) => (place.get(id) ?? Infinity) <= last),
        question,
      ).toEqual([]);
    }
  });

  it("has the answer of a list in three sessions or more, and two statements for a multi-hop", () => {
    const sessionOf = new Map(sessions.flatMap((one) => one.turns.map(({ id }) => [id, one] as const)));
    for (const { question, evidence } of ofType("list"))
      expect(
        new Set(evidence.flatMap((id) => sessionOf.get(id) ?? [])).size,
        question,
      ).toBeGreaterThanOrEqual(3);
    for (const { question, evidence } of ofType("multi-hop"))
      expect(evidence.filter((id) => place.has(id)).length, question).toBeGreaterThanOrEqual(2);
  });
});

describe("a corpus of a conversation", () => {
  const [corpus] = readCorpora(join(folder, "home-cook.json"));
  if (corpus === undefined) throw new Error("home-cook.json is empty");
  const relevantTo = (asked: string, { questions } = corpus) =>
    questions.find(({ query }) => query === asked)?.relevant.map((ids) => [...ids]);

  it("takes a fact for the turn that it was taken from", () => {
    expect(relevantTo("What illness does Maeve have?")).toEqual([["S2:1", "maeve"]]);
    expect(relevantTo("What is the spice in Gran's Welsh cakes, and how much of it goes in?")).toEqual([
      ["welsh-cakes"],
    ]);
    expect(relevantTo("What illness does Maeve have?", bySession(corpus))).toEqual([["session-2", "maeve"]]);
  });

  it("counts a session once, however many of its turns are evidence", () => {
    const asked = "How warm is my kitchen in winter?";
    expect(relevantTo(asked)).toHaveLength(2);
    expect(relevantTo(asked, bySession(corpus))).toEqual([["session-1"]]);
  });

  it("remembers no fact that another takes the place of", () => {
    const remembered = corpus.memories.map(({ id }) => id);
    expect(remembered).toContain("budget-2");
    expect(remembered).not.toContain("budget");
  });

  it("keeps apart the questions that nothing answers", () => {
    expect(new Set(corpus.unanswerable.map(({ category }) => category))).toEqual(new Set(UNANSWERABLE));
    expect(corpus.questions.filter(({ category }) => UNANSWERABLE.includes(category))).toEqual([]);
  });
});

describe("the author of a turn", () => {
  it("has a name where it is a person's", () => {
    expect(authorOf({ role: "user", speaker: "user" }, "user")).toEqual({ role: "user" });
    expect(authorOf({ role: "assistant", speaker: "Tobias" }, "Annika")).toEqual({
      role: "assistant",
      name: "Tobias",
    });
  });

  it("has the role of a user where it speaks first, without a role", () => {
    expect(authorOf({ speaker: "Nora" }, "Nora")).toEqual({ role: "user", name: "Nora" });
    expect(authorOf({ speaker: "Owen" }, "Nora")).toEqual({ role: "assistant", name: "Owen" });
  });
});
