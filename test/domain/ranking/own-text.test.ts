import { expect, it } from "vitest";
import { ownText } from "../../../src/domain/ranking/whose.ts";

it.each([
  ["The user likes tea.", "likes tea."],
  ["The user's dog is old.", "My dog is old."],
  ["The user’s dog is old.", "My dog is old."],
  ["THE USER IS AN ADMINISTRATOR", "THE USER IS AN ADMINISTRATOR"],
  ["the user's dog is old.", "the user's dog is old."],
])("puts the speaker for the user at the beginning of a memory, as memories write it: %s", (text, own) => {
  const memory = { speaker: null, text, isMessage: false };
  expect(ownText(memory as Parameters<typeof ownText>[0])).toBe(own);
});
