// `npm run eval -- --extract`: the example conversations from ingest to the prompt. Which facts come of them, judged against
// lists by hand, and whether the memory of a prompt answers the questions.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Cairn, Memory } from "#client/index.ts";
import { waitForVectors, type Told } from "./ask.ts";
import type { Corpus } from "./dataset.ts";
import { authorOf, readConversations } from "./demo/conversation.ts";
import { progress } from "./demo/terminal.ts";
import { percent, printTable } from "../table.ts";

/**
 * What a user states, by conversation. `facts`: facts of the conversation's own list, each with an expression for what an
 * extracted one has to name. `also`: the same by the turn, for what the list leaves out.
 */
const Lists = z.record(
  z.string(),
  z.object({ facts: z.record(z.string(), z.string()), also: z.record(z.string(), z.string()) }),
);

/** The facts of one conversation, as they were judged. `repeated`: memories that two more ingests of the same added. */
export type Judged = {
  set: string;
  stated: number;
  found: number;
  live: { right: number; all: number };
  quarantined: { right: number; all: number };
  repeated: number;
  episodes: number;
};

/** A fact that the user states: the turns that state it, and what names it. */
type Stated = { id: string | null; turns: ReadonlySet<string>; names: RegExp };

/** Ingests a conversation three times, session by session, and judges its facts. */
export async function extractFrom(
  client: Cairn,
  user: string,
  { corpus, stated }: { corpus: Corpus; stated: readonly Stated[] },
): Promise<{ judged: Judged; told: Told }> {
  const names = new Map<string, string>();
  const draw = progress(`ingesting ${corpus.name}`, 3 * corpus.sessions.length);
  let done = 0;
  const ingestAll = async (): Promise<void> => {
    for (const { id, saidAt, turns } of corpus.sessions) {
      const messages = turns.map((turn) => ({ ...authorOf(turn, turns[0]?.speaker), content: turn.text }));
      const { ingestId, threadId } = await client.ingest(user, {
        sessionId: id,
        messages,
        mode: "wait",
        ...(saidAt !== undefined && { createdAt: saidAt }),
      });
      await ended(client, ingestId);
      for (const [i, turn] of turns.entries()) names.set(`${threadId}:${i + 1}`, turn.id);
      draw(++done);
    }
  };
  await ingestAll();
  const memories = await memoriesOf(client, user);
  await ingestAll();
  await ingestAll();
  await waitForVectors(client, user);
  const repeated = (await memoriesOf(client, user)).length - memories.length;
  const turns = new Map(
    corpus.sessions.flatMap((session) => session.turns).map((turn) => [turn.id, turn.text]),
  );
  const within = new Map(
    memories
      .filter(({ kind }) => kind === "episode")
      .map((episode) => [
        episode.id,
        citedBy(episode, names).filter((id) =>
          sentencesOf(turns.get(id) ?? "").some((one) => episode.text.includes(one)),
        ),
      ]),
  );
  const facts = memories.filter(({ kind }) => kind === "fact");
  const matches = (memory: Memory) => stated.filter((one) => states(memory, one, names));
  const count = (status: Memory["status"]) => {
    const some = facts.filter((memory) => memory.status === status);
    return { right: some.filter((memory) => matches(memory).length > 0).length, all: some.length };
  };
  const listed = stated.filter(({ id }) => id !== null);
  const found = new Set(facts.flatMap((memory) => matches(memory).flatMap(({ id }) => id ?? [])));
  for (const memory of facts.filter((one) => matches(one).length === 0))
    console.log(`  judged wrong (${memory.status}): ${memory.text}`);
  return {
    judged: {
      set: corpus.set,
      stated: listed.length,
      found: found.size,
      live: count("active"),
      quarantined: count("quarantined"),
      repeated,
      episodes: memories.length - facts.length,
    },
    told: { user, corpus, names, within },
  };
}

/** The facts that the user states in each conversation of a file; none for a conversation without a list. */
export function statedIn(path: string): ReadonlyMap<string, Stated[]> {
  const lists = Lists.parse(JSON.parse(readFileSync(join(import.meta.dirname, "facts.json"), "utf8")));
  return new Map(
    readConversations(path).flatMap(({ id, facts }) => {
      const list = lists[id];
      if (list === undefined) return [];
      const evidenceOf = new Map(facts.map((fact) => [fact.id, fact.evidence]));
      const listed = Object.entries(list.facts).map(([fact, names]) => {
        const evidence = evidenceOf.get(fact);
        if (evidence === undefined) throw new Error(`${path} has no fact ${fact}, which facts.json lists`);
        return { id: fact, turns: new Set(evidence), names: new RegExp(names, "iu") };
      });
      const also = Object.entries(list.also).map(([turn, names]) => ({
        id: null,
        turns: new Set([turn]),
        names: new RegExp(names, "iu"),
      }));
      return [[id, [...listed, ...also]] as const];
    }),
  );
}

const states = (memory: Memory, { turns, names }: Stated, turnOf: ReadonlyMap<string, string>): boolean =>
  names.test(memory.text) && citedBy(memory, turnOf).some((turn) => turns.has(turn));

/** The turns that a memory cites. */
const citedBy = ({ source, sources = [] }: Memory, turnOf: ReadonlyMap<string, string>): string[] => [
  ...new Set([source, ...sources].flatMap((one) => turnOf.get(`${one?.thread}:${one?.message}`) ?? [])),
];

/** Its sentences, without the shortest. */
const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[.!?])\s+/u).filter((sentence) => sentence.length >= 20);

async function ended(client: Cairn, id: string): Promise<void> {
  for (;;) {
    const ingest = await client.ingests.get(id);
    if (ingest?.status === "partial") throw new Error(`the ingest ${id} ended as partial: ${ingest.why}`);
    if (ingest?.status === "done") return;
    await sleep(200);
  }
}

async function memoriesOf(client: Cairn, user: string): Promise<Memory[]> {
  const all: Memory[] = [];
  for await (const memory of client.memories.all(user, { status: ["active", "quarantined"] }))
    all.push(memory);
  return all;
}

/** Prints what was found of what is stated (recall), and what of the found is stated (precision). */
export function printExtracted(all: readonly Judged[], model: string | null): void {
  console.log(
    model === null
      ? "\nWithout a model: sentences that patterns find, and facts of the sure ones."
      : `\nFacts of ${model}: live where they pass every check, else in quarantine.`,
  );
  const sum = (of: (one: Judged) => number) => (some: readonly Judged[]) =>
    some.reduce((total, one) => total + of(one), 0);
  const [stated, found, repeated] = [
    sum((one) => one.stated),
    sum((one) => one.found),
    sum((one) => one.repeated),
  ];
  const share = (status: "live" | "quarantined", some: readonly Judged[]): string => {
    const [right, facts] = [sum((one) => one[status].right)(some), sum((one) => one[status].all)(some)];
    return facts === 0 ? "" : `${right} of ${facts} (${percent(right / facts)} %)`;
  };
  const row = (name: string, some: readonly Judged[]) => [
    name,
    String(stated(some)),
    `${found(some)} (${percent(found(some) / Math.max(1, stated(some)))} %)`,
    share("live", some),
    share("quarantined", some),
    String(sum((one) => one.episodes)(some)),
    String(repeated(some)),
  ];
  printTable(
    ["facts", "listed", "found", "live: right", "quarantined: right", "episodes", "added by two repeats"],
    [...all.map((one) => row(one.set, [one])), ...(all.length > 1 ? [row("all sets", all)] : [])],
  );
}

/** What fails the evaluation. */
export function extractFailures(all: readonly Judged[]): string[] {
  return [
    ...(all.length === 0 ? ["no conversation has a list of facts"] : []),
    ...all.flatMap(({ set, repeated, episodes, live, quarantined }) => [
      ...(repeated === 0 ? [] : [`${set}: the same conversation again added ${repeated} memories`]),
      ...(episodes + live.all + quarantined.all === 0 ? [`${set}: nothing was extracted`] : []),
    ]),
  ];
}
