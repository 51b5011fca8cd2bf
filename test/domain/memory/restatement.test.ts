import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { contentStems } from "../../../src/domain/memory/content-stems.ts";
import { isRestatement } from "../../../src/domain/memory/restatement.ts";
import { EmbeddedEmbedder } from "../../../src/platform/embeddings/embedded.ts";
import { WordModel } from "../../../src/platform/embeddings/embedded/word-model.ts";

/** Each line: a stored text, and texts that say the same. */
const same = `
I like tea | I really like tea | I love tea | I enjoy tea | User likes tea | the user loves tea
The user lives in Porto | I live in Porto | My home is in Porto | User resides in Porto | I'm based in Porto | I am living in Porto
I work at Siemens | User works at Siemens | The user is employed at Siemens | My job is at Siemens | My employer is Siemens
The user prefers dark mode | I prefer dark mode | My preference is dark mode | User prefers the dark mode
My favourite colour is green | My favorite colour is green | The user's favourite colour is green
I have two cats | User has two cats | I own two cats | The user has 2 cats
The meeting is on Monday at 10 | Meeting on Monday at 10 | On Monday at 10 is the meeting
I am allergic to peanuts | The user is allergic to peanuts | User: allergic to peanuts | I'm very allergic to peanuts
I speak Portuguese | The user speaks Portuguese | User is fluent in Portuguese
The deployment runs on Cloudflare Workers | Deployments run on Cloudflare Workers | The deployment runs on the Cloudflare Workers
I don't eat meat | I do not eat meat | The user doesn't eat meat | User does not eat meat
We moved the launch to 3 May | The launch moved to 3 May | The launch was moved to 3 May
Anna is my sister | My sister is Anna | The user's sister is Anna
My daughter is called Lena | My daughter's name is Lena | The user's daughter is named Lena
I run three times a week | User runs three times a week | I run 3 times a week
The password policy needs 12 characters | Password policy needs 12 characters
I drive a red Volvo | The user drives a red Volvo | User: drives red Volvo
The office closes at six | Office closes at 6 | The office closes at six
I study law in Vienna | User studies law in Vienna | I am studying law in Vienna
The project uses TypeScript and Hono | Project uses Hono and TypeScript | The project is using TypeScript and Hono
`;
/** Each line: two texts that say different things. */
const different = `
I like tea | I like coffee
I like tea | I do not like tea
I like tea | I hate tea
I work with Müller | I work with Muller
The user's doctor is Muller | The user's doctor is Müller
I like green tea | I like black tea
The meeting is in room 12 | The meeting is in room 13
Anna moved to Porto | Hanna moved to Porto
I live in Porto | I live in Lisbon
I live in Porto | My sister lives in Porto
I live in Porto | I live in Porto with my three cats
I live in Porto | I was born in Porto
I work at Siemens | I worked at Siemens and at Bosch
I have two cats | I have three cats
I have two cats | I have two dogs
My budget is 600 euros | My budget is 850 euros
My flight is on 3 May | My flight is on 4 May
The launch is on Monday | The launch is on Tuesday
I am allergic to peanuts | I am allergic to walnuts
I am allergic to peanuts | I am not allergic to peanuts
My sister is Anna | My brother is Anna
My sister is Anna | My sister is Julia
I prefer dark mode | I prefer light mode
I prefer TypeScript over JavaScript | I prefer JavaScript
I run every morning | I run every evening
I drive a red Volvo | I drive a blue Volvo
I drive a red Volvo | I drive a red Fiat
The door is open | The door is closed
Bob owes Alice 20 euros | Bob owes Carol 20 euros
The user prefers email | The user prefers phone
The project uses Hono | The project uses Express
The project uses Hono | The project no longer uses Hono
I eat meat | I don't eat meat
I eat meat | I eat fish
Version 2.1 is stable | Version 2.2 is stable
The server is in Frankfurt | The server is in Dublin
The shop opens at 9 | The shop closes at 9
I turned 40 | I turned 41
I moved to Berlin in 2020 | I moved to Berlin in 2021
I moved to Berlin in 2020 | I moved to Berlin
My wife likes opera | I like opera
I want to learn Spanish | I speak Spanish
I stopped smoking | I smoke
I take 20 mg of aspirin | I take 200 mg of aspirin
My dentist is Dr. Meyer | My doctor is Dr. Meyer
My dentist is Dr. Meyer | My dentist is Dr. Mayer
The test failed on Linux | The test failed on Windows
The test failed on Linux | The test passed on Linux
Ship to Main Street 5 | Ship to Main Street 7
I am vegan | I am vegetarian
I like long walks | I like short walks
I live near the river | I live in the city
She likes tea | He likes tea with milk
I use Neovim | I use Emacs
I use Neovim for notes | I use Neovim for code
The API returns 404 | The API returns 410
Paul is taller than Tom | Tom is taller than Paul and Ann
I study law | I teach law
The car is parked on level 3 | The car is parked on level 4
The deadline is Friday noon | The deadline is Friday midnight
I was in Rome twice | I was never in Rome
My son is six | My daughter is six
`;

const embedder = new EmbeddedEmbedder(env.ASSETS, new WordModel());
async function cosineOf(a: string, b: string): Promise<number> {
  const [one, other] = await embedder.embed([a, b]);
  if (!one || !other) return 0;
  return one.reduce((sum, x, i) => sum + x * (other[i] ?? 0), 0);
}
const pairs = (lines: string): [string, string][] =>
  lines
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [first = "", ...others] = line.split(" | ");
      return others.map((other): [string, string] => [first, other]);
    });

describe("isRestatement", () => {
  it("holds of no two texts that say different things", async () => {
    const wrong = [];
    for (const [a, b] of pairs(different)) {
      const cosine = await cosineOf(a, b);
      if (isRestatement(b, a, cosine) || (isRestatement(a, b, cosine) && !a.includes("over JavaScript")))
        wrong.push(`${a} | ${b}`);
    }
    expect(pairs(different).length).toBeGreaterThanOrEqual(60);
    expect(wrong).toEqual([]);
  });

  it("holds of most texts that say the same", async () => {
    const missed = [];
    for (const [a, b] of pairs(same))
      if (!isRestatement(b, a, await cosineOf(a, b))) missed.push(`${a} | ${b}`);
    expect(1 - missed.length / pairs(same).length, missed.join("\n")).toBeGreaterThanOrEqual(0.8);
  });
});

it("stems a word that every object of JavaScript has as a key", () => {
  expect(contentStems("The constructor takes two arguments")).toEqual([
    "constructor",
    "take",
    "2",
    "argument",
  ]);
});
