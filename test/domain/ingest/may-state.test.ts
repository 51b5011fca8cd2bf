import { expect, it } from "vitest";
import { mayState } from "../../../src/domain/ingest/may-state.ts";
import { windowOf } from "../../../packages/lab/evals/statement.ts";
import earlier from "./statements/earlier.json";
import fourth from "./statements/fourth.json";
import kinds from "./statements/kinds.json";
import names from "./statements/names.json";
import second from "./statements/second.json";
import third from "./statements/third.json";
import unseen from "../../../packages/lab/evals/unseen-statements.json";

const user = (text: string): [string, string] => ["user", text];
const assistant = (text: string): [string, string] => ["assistant", text];
/** `before`: how many of the messages only explain the others. */
const states = (said: [string, string][], before = 0): boolean => {
  const window = windowOf(said);
  return mayState({ context: window.slice(0, before), messages: window.slice(before) });
};

it.each([
  ["thanks", [user("Thanks!"), assistant("You are welcome. I live in Minsk.")]],
  ["assent", [assistant("I can book it."), user("ok do it")]],
  ["another language", [user("Merci beaucoup !")]],
  ["emoji", [user("👍")]],
  ["a question", [user("What is the capital of France?")]],
  ["small talk and a question", [user("Good morning! How warm is Lisbon in May?")]],
  ["a question as the answer to one", [assistant("Which one?"), user("Which ones are there?")]],
  ["an assistant and a tool", [assistant("You live in Minsk."), ["tool", "city: Minsk"]]],
] satisfies [string, [string, string][]][])("%s state no fact", (_, said) => {
  expect(states(said)).toBe(false);
});

it.each([
  ["a statement behind thanks", [user("Thanks! I live in Porto.")]],
  ["the statement in a question", [user("I'm vegan, any ideas?")]],
  ["an answer of one word, which is a name", [assistant("What's your name?"), user("Hope.")]],
  ["assent to a question", [assistant("Shall I book it?"), user("ok do it")]],
  ["a statement among other messages", [user("Hi"), assistant("Hello."), user("My son is Tim.")]],
  ["a name that is a mood", [user("Hi! I'm Will.")]],
  ["an ability", [user("I can't hear.")]],
  ["a taste", [user("I like rainy weather.")]],
  ["a statement behind an apology", [user("Sorry, I work Saturday.")]],
  ["another language's", [user("Yo fumo.")]],
  ["what is pasted, which a person may approve", [user("> I live in Porto")]],
] satisfies [string, [string, string][]][])("%s may state one", (_, said) => {
  expect(states(said)).toBe(true);
});

it("an answer to a question of an earlier message may state a fact", () => {
  expect(states([assistant("What's your name?"), user("Hope.")], 1)).toBe(true);
  expect(states([user("I live in Porto."), assistant("Nice."), user("Thanks!")], 2)).toBe(false);
});

it("each genuine statement may state a fact", () => {
  const genuine = [earlier, fourth, kinds, names, second, third, unseen].flatMap((file) =>
    "genuine" in file ? file.genuine : [],
  );
  expect(genuine.length).toBeGreaterThan(500);
  expect(genuine.filter(({ said }) => !mayState({ context: [], messages: windowOf(said) }))).toEqual([]);
});
