import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnswerContent } from "#adapters/ai-sdk/sdk.ts";

/** A fact as a program writes it. A later one with the same subject and predicate takes its place. */
export type Fact = { subject: string; predicate: string; object: string };

/** One message of the user, and what the model says to it: one content for each of its steps. */
export type Turn = {
  user: string;
  steps: readonly AnswerContent[][];
  /** Since the turn before, in milliseconds. */
  pauseMs: number;
  /** Written after the turn. */
  facts: readonly Fact[];
};

export type Scenario = {
  name: string;
  instructions: string;
  /** Results of tools, by the call's id. */
  results: ReadonlyMap<string, string>;
  turns: readonly Turn[];
  /** One more turn, before which a fact is forgotten. */
  afterForgetting?: { fact: Pick<Fact, "subject" | "predicate">; turn: Turn };
};

type WrittenTurn = {
  user: string;
  answer: string;
  pauseMinutes?: number;
  remember?: Fact[];
  correct?: Fact;
};
type WrittenChat = {
  instructions: string;
  facts: Fact[];
  turns: WrittenTurn[];
  after: { forget: Pick<Fact, "subject" | "predicate">; turn: WrittenTurn };
};

const MINUTE_MS = 60_000;
/** Somebody reads an answer and writes the next message. */
const TO_ANSWER_MS = 40_000;

const written = JSON.parse(readFileSync(join(import.meta.dirname, "chat.json"), "utf8")) as WrittenChat;

/** Facts about the user before the scenarios begin, beside earlier conversations. */
export const knownFacts: readonly Fact[] = written.facts;

/** A chat about a week's meals: 20 turns, two pauses that no cache survives, facts written and corrected in between. */
export const chat: Scenario = {
  name: "chat of 20 turns",
  instructions: written.instructions,
  results: new Map(),
  turns: written.turns.map(turnOf),
  afterForgetting: { fact: written.after.forget, turn: turnOf(written.after.turn) },
};

function turnOf({ user, answer, pauseMinutes, remember = [], correct }: WrittenTurn): Turn {
  return {
    user,
    steps: [[{ type: "text", text: answer }]],
    pauseMs: pauseMinutes === undefined ? TO_ANSWER_MS : pauseMinutes * MINUTE_MS,
    facts: correct === undefined ? remember : [...remember, correct],
  };
}

const STEPS = 8;
/** Characters of one file that a tool gives back. */
const FILE_CHARACTERS = 5_500;

/** A run of eight steps, seven of which call a tool, and the next turn. */
export const agentRun: Scenario = {
  name: "agent run of 8 steps, and the turn after it",
  instructions: `${written.instructions}

# Tools

You have tools for the files of the household's recipe book. Read before you change, and say what you changed.`,
  results: new Map(Array.from({ length: STEPS - 1 }, (_, i) => [callId(i), recipeFile(i)])),
  turns: [
    {
      user: "Go through my recipe book and tell me which suppers Joss and Maeve can both eat, and what I'd have to swap in the others.",
      steps: [
        ...Array.from({ length: STEPS - 1 }, (_, i) => [readFileCall(i)]),
        [
          {
            type: "text",
            text: "Both can eat the dal, the chard stew and the roast roots as they are. In the pies, swap wheat for rice flour and butter for coconut oil; in the pasta dishes only the pasta changes. The custards cannot be saved: leave them out when both of them come.",
          },
        ],
      ],
      pauseMs: TO_ANSWER_MS,
      facts: [
        {
          subject: "recipe book",
          predicate: "is safe for Joss and Maeve in",
          object: "dal, chard stew and roast roots",
        },
      ],
    },
    {
      user: "Great. And which of these three is quickest on a Thursday with Kit's swimming?",
      steps: [
        [
          {
            type: "text",
            text: "The roast roots: five minutes of work, and the oven does the rest while you are at the pool. The stew is next, if you make it the day before.",
          },
        ],
      ],
      pauseMs: TO_ANSWER_MS,
      facts: [],
    },
  ],
};

function callId(i: number): string {
  return `call-${i + 1}`;
}

function readFileCall(i: number): AnswerContent {
  const input = JSON.stringify({ path: `recipes/chapter-${i + 1}.md` });
  return { type: "tool-call", toolCallId: callId(i), toolName: "read_file", input };
}

/** A file of recipes, made from lists of words: as long as a real one, and the same in each run. */
function recipeFile(chapter: number): string {
  const [kinds, mains, sides, ways] = [
    ["Stew", "Pie", "Soup", "Bake", "Salad", "Curry", "Gratin"],
    ["chard", "leek", "celeriac", "carrot", "lentil", "white bean", "savoy", "beetroot", "parsnip"],
    ["flatbread", "rice", "mash", "barley", "polenta", "noodles", "toast", "dumplings"],
    ["slowly in oil", "in the oven", "under a lid", "in stock", "with mustard", "with cumin", "in butter"],
  ] as const;
  let text = `# Chapter ${chapter + 1}\n`;
  for (let i = 0; text.length < FILE_CHARACTERS; i++) {
    const at = chapter * 31 + i * 7;
    const main = mains[at % mains.length];
    text += `
## ${kinds[(at + chapter) % kinds.length]} of ${main} with ${sides[(at * 3) % sides.length]}
Serves ${2 + (at % 5)}, ${20 + ((at * 5) % 60)} minutes. ${200 + ((at * 50) % 600)} g of ${main}, ${1 + (at % 3)} onions,
${10 + ((at * 10) % 90)} g of butter, ${100 + ((at * 20) % 400)} ml of water, salt.
1. Cook the onions ${ways[at % ways.length]} for ${5 + (at % 12)} minutes.
2. Add the ${main} and cook it ${ways[(at + 3) % ways.length]} for ${10 + (at % 30)} minutes.
3. Serve it with ${sides[(at * 3) % sides.length]}. Keeps for ${1 + (at % 4)} days.
`;
  }
  return text;
}
