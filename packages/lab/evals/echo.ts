// A fact that was asked for again and again: its rank must not fall below the questions that repeat its words.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Cairn } from "#client/index.ts";
import { z } from "zod";
import { waitForVectors } from "./ask.ts";
import { progress } from "./demo/terminal.ts";
import { printTable } from "../table.ts";

const WORST_RANK = 3;
const file = z.object({
  replies: z.array(z.string()),
  facts: z.array(z.object({ text: z.string(), query: z.string(), asks: z.array(z.string()).length(12) })),
});
type Echoed = { query: string; replies: boolean; rank: number };

/** The rank of each fact, after twelve messages that asked for it: once without replies, once with. */
async function ranksOfFacts(client: Cairn): Promise<Echoed[]> {
  const { replies, facts } = file.parse(
    JSON.parse(readFileSync(join(import.meta.dirname, "echo.json"), "utf8")),
  );
  const found: Echoed[] = [];
  const draw = progress("facts under twelve asks", 2 * facts.length);
  for (const { text, query, asks } of facts)
    for (const replied of [false, true]) {
      const user = `eval-${randomUUID()}`;
      const { id } = await client.memories.remember(user, { text });
      const thread = await client.threads.create(user);
      await client.threads.append(
        thread.id,
        asks.flatMap((content, i) => [
          { role: "user" as const, content },
          ...(replied ? [{ role: "assistant" as const, content: replies[i] ?? "" }] : []),
        ]),
      );
      await waitForVectors(client, user);
      const { hits } = await client.recall(user, { query, k: 50, window: 0 });
      const place = hits.findIndex((hit) => hit.id === id);
      found.push({ query, replies: replied, rank: place === -1 ? Infinity : place + 1 });
      draw(found.length);
    }
  return found;
}

/** Prints the ranks. Answers a sentence for each that is too low. */
export async function checkEchoes(client: Cairn, { each }: { each: boolean }): Promise<string[]> {
  const found = await ranksOfFacts(client);
  const worst = (replies: boolean) =>
    String(Math.max(...found.filter((one) => one.replies === replies).map(({ rank }) => rank)));
  const ranks = (query: string) =>
    [false, true].map((replies) =>
      String(found.find((one) => one.query === query && one.replies === replies)?.rank),
    );
  printTable(
    ["rank", "asks alone", "asks with replies"],
    [
      ...(each ? [...new Set(found.map(({ query }) => query))].map((query) => [query, ...ranks(query)]) : []),
      ["fact under twelve asks: worst rank", worst(false), worst(true)],
    ],
  );
  return found
    .filter(({ rank }) => rank > WORST_RANK)
    .map(
      ({ query, replies, rank }) =>
        `"${query}", asked twelve times before${replies ? " and replied to" : ""}: the fact has rank ${rank}`,
    );
}
