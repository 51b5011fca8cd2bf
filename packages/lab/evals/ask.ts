// Writes a corpus to a running Cairn, and asks its questions, through the public API.
import { setTimeout as sleep } from "node:timers/promises";
import type { Cairn, RecallAnswer, RecallBody } from "#client/index.ts";
import type { Phrasing } from "./phrasings.ts";
import { CAIRN, type Run } from "./compare.ts";
import type { Corpus } from "./dataset.ts";
import { authorOf } from "./demo/conversation.ts";
import { progress } from "./demo/terminal.ts";
import { plainFts5 } from "./floor.ts";

/** No more than the usual number of candidates an arm: each arm brings as many as in a recall of the default `k`. */
const K = 20;
const off = {
  lexical: 0,
  soft: 0,
  vector: 0,
  speaker: 0,
  length: 0,
  time: 0,
  key: 0,
  importance: 0,
  recency: 0,
  instructions: 0,
  statements: 0,
};
type Way = { name: string; weights?: NonNullable<RecallBody["weights"]>; phrasing?: Phrasing };
const WORDS: Way = { name: "words", weights: { ...off, lexical: 1 } };
/** Each way to find candidates alone, and all together. */
const ways: readonly Way[] = [
  WORDS,
  { name: "words of similar meaning", weights: { ...off, soft: 1 } },
  { name: "vectors", weights: { ...off, vector: 1 } },
  { name: CAIRN },
];

/**
 * A user who was told a corpus, and the data's name of each of its documents. `within`: by memory, the documents of which it
 * repeats a sentence.
 */
export type Told = {
  user: string;
  corpus: Corpus;
  names: ReadonlyMap<string, string>;
  within?: ReadonlyMap<string, readonly string[]>;
};

/** Tells a user's Cairn what was said and what is to be remembered. */
export async function tell(client: Cairn, user: string, corpus: Corpus): Promise<Told> {
  const names = new Map<string, string>();
  const draw = progress(`telling ${corpus.name}`, corpus.sessions.length + corpus.memories.length);
  let done = 0;
  for (const { id, saidAt, turns } of corpus.sessions) {
    const thread = await client.threads.create(user, { title: id });
    const { firstSeq = 1 } = await client.threads.append(
      thread.id,
      turns.map((turn) => ({ ...authorOf(turn, turns[0]?.speaker), content: turn.text })),
      saidAt === undefined ? {} : { createdAt: saidAt },
    );
    for (const [i, turn] of turns.entries()) names.set(`${thread.id}:${firstSeq + i}`, turn.id);
    draw(++done);
  }
  for (const { id, text } of corpus.memories) {
    names.set((await client.memories.remember(user, { text })).id, id);
    draw(++done);
  }
  await waitForVectors(client, user);
  return { user, corpus, names };
}

/** Waits until everything is found by meaning too. */
export async function waitForVectors(client: Cairn, user: string): Promise<void> {
  while ((await client.recall(user, { query: "anything", k: 1 })).freshness.pending > 0) await sleep(200);
}

/** The ways to ask, and then Cairn in other words. A smoke takes plain FTS5 for the arm of words. */
export const waysToAsk = (phrasings: Readonly<Record<string, Phrasing>>, smoke: boolean): Way[] => [
  ...ways.filter((way) => !smoke || way !== WORDS),
  ...Object.entries(phrasings).map(([name, phrasing]) => ({ name: `${CAIRN}, ${name}`, phrasing })),
];

/** Everything that was said or remembered. */
const documentsOf = ({ sessions, memories }: Corpus): { id: string; text: string }[] => [
  ...sessions.flatMap(({ turns }) =>
    turns.map(({ id, speaker, text }) => ({ id, text: `${speaker}: ${text}` })),
  ),
  ...memories,
];

/** Asks every question in every way. */
export async function askInEachWay(
  client: Cairn,
  { user, corpus, names }: Told,
  asked: readonly Way[],
): Promise<Run[]> {
  const floor = plainFts5(documentsOf(corpus));
  const runs: Run[] = [
    { name: "plain FTS5", ranked: corpus.questions.map(({ query }) => floor(query, K)), times: [] },
  ];
  for (const { name, weights, phrasing = (query: string) => query } of asked) {
    const run: Run = { name, ranked: [], times: [] };
    const draw = progress(`asking ${corpus.name}: ${name}`, corpus.questions.length);
    for (const [i, question] of corpus.questions.entries()) {
      const query = phrasing(question.query, i);
      const started = performance.now();
      const { hits } = await client.recall(user, { query, k: K, ...(weights && { weights }) });
      run.times.push(performance.now() - started);
      run.ranked.push(hits.map(({ id }) => names.get(id) ?? id));
      draw(run.ranked.length);
    }
    runs.push(run);
  }
  return runs;
}

/** Asks each query once, as `body` says; calls `use` with each answer in turn. */
export async function askEach<Query extends { query: string }>(
  client: Cairn,
  { user, corpus }: Told,
  {
    queries,
    body,
    use,
  }: {
    queries: readonly Query[];
    body: Omit<RecallBody, "query">;
    use: (answer: RecallAnswer, query: Query) => void;
  },
): Promise<void> {
  const draw = progress(`asking ${corpus.name}`, queries.length);
  for (const [i, query] of queries.entries()) {
    use(await client.recall(user, { ...body, query: query.query, window: 0 }), query);
    draw(i + 1);
  }
}
