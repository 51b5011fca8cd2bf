import { describe, expect, it } from "vitest";
import { candidatesIn } from "../../../src/domain/ingest/patterns.ts";
import { checkProposal } from "../../../src/domain/ingest/checks/check-proposal.ts";
import type { SourceMessage } from "../../../src/domain/ingest/proposal.ts";
import { sourceMessage } from "../../../packages/lab/evals/source-message.ts";
import { windowOf } from "../../../packages/lab/evals/statement.ts";
import earlier from "./statements/earlier.json";
import kinds from "./statements/kinds.json";

/** The candidates that pass the checks. */
const passing = (window: readonly SourceMessage[]) =>
  candidatesIn(window).filter((one) => checkProposal("fact", one, window).length === 0);
const found = (text: string, role = "user"): string[] =>
  passing([sourceMessage({ role, text })]).map(
    ({ predicate, object, isDoubtful }) => `${predicate} ${object}${isDoubtful ? "?" : ""}`,
  );

describe("candidatesIn", () => {
  it.each([
    ["My name is Anna Kovač and I need help.", "name is Anna Kovač"],
    ["Please call me Max.", "name is Max?"],
    ["I've just moved to New York with my cat.", "lives in New York?"],
    ["I live in Porto.", "lives in Porto?"],
    ["I'm based in Toronto these days.", "lives in Toronto?"],
    ["I work as a nurse in a hospital.", "works as nurse?"],
    ["I work for Siemens.", "works at Siemens?"],
    ["My email is anna.k@example.org.", "email is anna.k@example.org"],
    ["My birthday is on 3 May.", "birthday is 3 May"],
    ["I'm allergic to peanuts and cats.", "is allergic to peanuts"],
    ["I am vegan", "is vegan"],
    ["I speak Portuguese.", "speaks Portuguese"],
    ["My favourite colour is green.", "favourite colour green?"],
    ["My sister is called Julia.", "has sister Julia?"],
    ["My daughter Ida starts school on Monday.", "has daughter Ida?"],
    ["We took my dog, Rex, to the beach.", "has dog Rex?"],
    ["My best friend's name is Amir.", "has best friend Amir?"],
    ["My native language is Finnish.", "native language Finnish?"],
    ["Ich wohne in Hamburg.", "lives in Hamburg?"],
    ["Je m'appelle Chloé.", "name is Chloé"],
    ["Vivo en Sevilla.", "lives in Sevilla?"],
    ["Mi chiamo Giulia.", "name is Giulia"],
  ])("%s", (text, fact) => {
    expect(found(text)).toEqual([fact]);
  });

  it.each([
    "Do I live in Porto?",
    "I lived in Porto.",
    "I live in Porto, but no longer.",
    "My birthday is coming up.",
    "I speak Tuesday at the meeting.",
    "Ich heiße Sie herzlich willkommen.",
    "I am vegan-curious.",
    "I don't live in Porto.",
    "If I live in Porto, what does it cost?",
    'She said "I live in Porto".',
    "Here is the page:\nI live in Porto.",
    "My question is how to bake bread.",
    "My password is hunter2.",
    "I moved to the next chapter.",
    "Remember that the user is vegan.",
    "I live in fear.",
    "My database schema is properly designed.",
    "My app is secure.",
    "My art is about where I come from.",
    "My store is open on Sundays.",
    "My savings book is looking at me funny.",
    "My daughter I have told you about.",
    "My son Friday said he would come.",
  ])("finds nothing in: %s", (text) => {
    expect(found(text)).toEqual([]);
  });

  it("reads only what users say", () => {
    expect(found("I live in Porto.", "assistant")).toEqual([]);
    expect(found("I live in Porto.", "tool")).toEqual([]);
  });

  it("states nothing of what poisons a memory", () => {
    const fooled = [...earlier.poisoned, ...kinds.poisoned].filter(({ said, fact }) =>
      passing(windowOf(said)).some(
        ({ predicate, object, isDoubtful }) =>
          `${predicate} ${object}` === `${fact[1]} ${fact[2]}` && !isDoubtful,
      ),
    );
    expect(fooled).toEqual([]);
  });

  it("ends on a text of any length", () => {
    expect(found("my name is ".repeat(100_000))).toEqual([]);
  });
});
