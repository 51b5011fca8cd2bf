// Whose a thing is that a text tells of, beside whose it is in a question.
import { expect, it } from "vitest";
import { ownerTest } from "../../../src/domain/ranking/owners.ts";
import type { PoolMember } from "../../../src/domain/ranking/pool.ts";

/** True if the text tells of somebody else's thing. */
function isOthers(question: string, text: string, more: Partial<PoolMember> = {}): boolean {
  const one = { kind: "message", isMessage: true, text, role: "user", speaker: null, ...more };
  // The test reads no other fields.
  return ownerTest(question)(one as unknown as PoolMember, text);
}
const memory = { isMessage: false, role: null };

it.each([
  ["What is my dog's name?", "The landlord's dog is called Bruno."],
  ["When is my birthday?", "Her birthday is on 3 May."],
  ["When is Ann's birthday?", "My birthday is on 3 May."],
  ["What is Ann's phone number?", "Tom's phone number ends in 12."],
])("is somebody else's: %s %s", (question, text) => {
  expect(isOthers(question, text)).toBe(true);
});

it.each([
  ["What is my dog's name?", "My dog is called Rex."],
  ["What is my dog's name?", "The dog is called Rex."],
  ["Who is my dog's vet?", "Rex's vet is Dr Lee."],
  ["What does my company's API use?", "Acme's API uses gRPC."],
  ["Where is my daughter's school?", "Mia's school is in Dale Road."],
  ["When is Ann's birthday?", "Ann told me that her birthday is on 3 May."],
  ["What did we pay for our boiler?", "Tom's boiler cost 900."],
])("is not somebody else's: %s %s", (question, text) => {
  expect(isOthers(question, text)).toBe(false);
});

it.each([
  ["How do I like my coffee?", "The user likes their coffee black."],
  ["Where do I keep my passport?", "The user keeps their passport in the safe."],
  ["What is my phone number?", "The user gave his phone number: 0151 23."],
])("takes a pronoun in a memory of the user for the user: %s %s", (question, text) => {
  expect(isOthers(question, text, memory)).toBe(false);
  expect(isOthers(question, text.replace("The user", "Tom"), memory)).toBe(true);
});
