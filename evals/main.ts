// `npm run eval -- --file PATH`: how well recall finds what answers a question, each arm alone and all together, beside
// a plain FTS5 table. Everything goes through the public API of a running Cairn.
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Cairn, cairn } from "../client/src/index.ts";
import { authorOf } from "./demo/conversation.ts";
import { progress } from "./demo/terminal.ts";
import { developmentToken, freePort, startLocalServer } from "../scripts/local-server.ts";
import { typos, wrappings } from "./asked.ts";
import { bySession, type Corpus, inOneStore, readCorpora } from "./dataset.ts";
import { plainFts5 } from "./floor.ts";
import { crossValidated, type Explained, explainedHits, fitted, reranked, withoutFeature } from "./fit.ts";
import {
  crossValidatedConfidence,
  fittedConfidence,
  type Judged,
  judge,
  printAbstention,
  thresholdOf,
} from "./abstain.ts";
import { interval, mean, recallAt } from "./metrics.ts";
import { features } from "../src/domain/ranking/features.ts";
import { candidateKinds } from "../src/domain/ranking/pool.ts";
import { type EmbedderKind, rankingModels } from "../src/domain/ranking/weights.ts";
import { ANSWERABLE, type Best, print, printBest, type Run } from "./table.ts";
import { alone, CAIRN, heldOut, phrased, settings, type Way, without } from "./weights.ts";

/** The most hits that one recall gives. */
const K = 100;
const FLOOR = "plain FTS5";
/** Fewer questions of a kind prove nothing. */
const LEAST = 10;
/** The share of the answerable questions that a threshold may lose. */
const LOST = 0.03;
const USAGE =
  "usage: npm run eval -- [--file PATH ...] [--granularity turn|session] [--one-store] [--without | --held-out | --fit | --abstain | [--wrapped] [--typos]] [--smoke] [--model NAME | --url URL --token TOKEN [--contextual]] (the embedder is the server's)";

/** Tells a user's Cairn what was said and what is to be remembered. Answers the data's name of each hit. */
async function ingest(client: Cairn, user: string, corpus: Corpus): Promise<Map<string, string>> {
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
  while ((await client.recall(user, { query: "anything", k: 1 })).freshness.pending > 0) await sleep(200);
  return names;
}

async function ask(
  client: Cairn,
  user: string,
  { corpus, names, ways }: { corpus: Corpus; names: Map<string, string>; ways: readonly Way[] },
): Promise<Run[]> {
  const floor = plainFts5(corpus);
  const runs: Run[] = [
    { name: FLOOR, ranked: corpus.questions.map(({ query }) => floor(query, K)), times: [] },
  ];
  for (const { name, weights, phrasing } of ways) {
    const run: Run = { name, ranked: [], times: [] };
    const draw = progress(`asking ${corpus.name}: ${name}`, corpus.questions.length);
    for (const [i, question] of corpus.questions.entries()) {
      const query = phrasing?.(question.query, i) ?? question.query;
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

/** Every question once, with the features of its hits. */
async function explain(
  client: Cairn,
  user: string,
  { corpus, names }: { corpus: Corpus; names: Map<string, string> },
): Promise<Explained[]> {
  const explained: Explained[] = [];
  const draw = progress(`explaining ${corpus.name}`, corpus.questions.length);
  for (const { query, relevant } of corpus.questions) {
    const answer = await client.recall(user, { query, k: K, explain: true, window: 0 });
    const namesOf = (id: string) => [names.get(id) ?? id];
    const parts = new Set(relevant.flatMap((ids) => [...ids]));
    explained.push(explainedHits(corpus.name, parts, { answer, namesOf }));
    draw(explained.length);
  }
  return explained;
}

const untimed = (name: string, ranked: string[][]): Run => ({ name, ranked, times: [] });

/** Prints what weights give that were fitted on the other conversations, each feature's worth, and the weights fitted on all. */
function printFit(corpora: readonly Corpus[], all: readonly Explained[], embedder: EmbedderKind): void {
  const questions = corpora.flatMap((corpus) => corpus.questions);
  const before = rankingModels[embedder].weights;
  const after = fitted(all, before);
  const used = features.filter((feature) => candidateKinds.some((kind) => (after[kind][feature] ?? 0) !== 0));
  print("fitted", questions, [
    untimed(
      "the weights in use",
      all.map((one) => reranked(one, before)),
    ),
    untimed("fitted on the others", crossValidated(all, before)),
    untimed(
      "fitted on all",
      all.map((one) => reranked(one, after)),
    ),
    ...used.map((feature) =>
      untimed(
        `without ${feature}`,
        all.map((one) => reranked(one, withoutFeature(after, feature))),
      ),
    ),
  ]);
  const inUse = all.map((one) => reranked(one, before));
  const onOthers = crossValidated(all, before);
  for (const set of new Set(corpora.map((corpus) => corpus.set))) {
    const names = new Set(corpora.filter((corpus) => corpus.set === set).map(({ name }) => name));
    const at = all.flatMap(({ corpus }, i) => (names.has(corpus) ? [i] : []));
    const pick = (ranked: string[][]) => at.map((i) => ranked[i] ?? []);
    print(
      `fitted: ${set}`,
      at.flatMap((i) => questions[i] ?? []),
      [untimed("the weights in use", pick(inUse)), untimed("fitted on the others", pick(onOthers))],
    );
  }
  console.log(`\n${JSON.stringify(after, null, 2)}`);
}

/** The scores of the best hits, for a threshold of the questions that nothing answers. */
async function bestScores(client: Cairn, user: string, corpus: Corpus): Promise<Best[]> {
  if (corpus.unanswerable.length === 0) return [];
  const asked = [
    ...corpus.questions.map(({ query }) => ({ query, category: ANSWERABLE })),
    ...corpus.unanswerable,
  ];
  const best: Best[] = [];
  for (const { query, category } of asked) {
    const { hits } = await client.recall(user, { query, k: 1 });
    best.push({ category, score: hits[0]?.score ?? 0 });
  }
  return best;
}

/** Prints how well the confidence tells what has no answer, by set, and the weights fitted on all. */
function printConfidence(corpora: readonly Corpus[], all: readonly Judged[]): void {
  const onOthers = crossValidatedConfidence(all);
  for (const set of new Set(corpora.map((corpus) => corpus.set))) {
    const names = new Set(corpora.filter((corpus) => corpus.set === set).map(({ name }) => name));
    const isOf = ({ corpus }: Judged) => names.has(corpus);
    printAbstention(`${set}, in use`, all.filter(isOf));
    printAbstention(`${set}, fitted on the others`, onOthers.filter(isOf));
  }
  printAbstention("all, in use", all);
  printAbstention("all, fitted on the others", onOthers);
  const model = { confidence: fittedConfidence(all), threshold: thresholdOf(onOthers, LOST) };
  console.log(`\n${JSON.stringify(model, null, 2)}`);
}

/** A session ranks by its best turn. */
function sessionsOf(corpus: Corpus, run: Run): Run {
  const sessionOf = new Map(
    corpus.sessions.flatMap(({ id, turns }) => turns.map((turn) => [turn.id, id] as const)),
  );
  return { ...run, ranked: run.ranked.map((ids) => [...new Set(ids.map((id) => sessionOf.get(id) ?? id))]) };
}

type Asked = { corpus: Corpus; runs: readonly Run[] };

const everyQuestion = (all: readonly { corpus: Corpus }[]) => all.flatMap(({ corpus }) => corpus.questions);

/** One way's answers to the questions of several corpora, in their order. */
const together = (name: string, runs: readonly Run[]): Run => ({
  name,
  ranked: runs.flatMap(({ ranked }) => ranked),
  times: runs.flatMap(({ times }) => times),
});

/** The R@10 of each question by one way of searching. */
const scoresOf = (all: readonly Asked[], name: string): number[] =>
  all.flatMap(({ corpus, runs }) =>
    corpus.questions.map(({ relevant }, i) =>
      recallAt(runs.find((run) => run.name === name)?.ranked[i] ?? [], relevant, 10),
    ),
  );

/** Prints the difference to plain FTS5 of each set and kind of questions, question by question. Returns those that are worse. */
function printPaired(all: readonly Asked[]): string[] {
  const worse: string[] = [];
  console.log("\n| Cairn against plain FTS5, R@10 | questions | FTS5 | Cairn | difference (95 %) |");
  console.log("| --- | ---: | ---: | ---: | ---: |");
  for (const set of new Set(all.map(({ corpus }) => corpus.set))) {
    const asked = all.filter(({ corpus }) => corpus.set === set);
    const kinds = everyQuestion(asked).map(({ category }) => category);
    const [ours, floor] = [scoresOf(asked, CAIRN.name), scoresOf(asked, FLOOR)];
    for (const kind of [null, ...new Set(kinds)]) {
      const at = kinds.flatMap((one, i) => (kind === null || one === kind ? [i] : []));
      const pick = (scores: readonly number[]) => at.map((i) => scores[i] ?? 0);
      const differences = at.map((i) => (ours[i] ?? 0) - (floor[i] ?? 0));
      const [low, high] = interval(differences).map((one) => 100 * one) as [number, number];
      const name = kind === null ? `**${set}**` : `${set}: ${kind}`;
      const [plain, cairns, by] = [pick(floor), pick(ours), differences].map((some) => 100 * mean(some));
      const figures = [plain, cairns].map((one) => (one ?? 0).toFixed(1)).join(" | ");
      console.log(
        `| ${name} | ${at.length} | ${figures} | ${(by ?? 0).toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)}) |`,
      );
      if (at.length >= LEAST && high < 0) worse.push(`${name}: ${figures}`);
    }
  }
  return worse;
}

async function server({ url, token, model }: { url?: string; token?: string; model?: string }) {
  if (url !== undefined && token !== undefined)
    return { client: cairn({ url, token }), stop: async () => {} };
  const state = mkdtempSync(join(tmpdir(), "cairn-eval-"));
  process.once("exit", () => rmSync(state, { recursive: true, force: true }));
  const vars: Record<string, string> = model === undefined ? {} : { EMBEDDINGS_MODEL: model };
  const local = await startLocalServer({ port: await freePort(), state, vars });
  const health = (await (await fetch(`${local.url}/health`)).json()) as { problems?: string[] };
  if (health.problems !== undefined) {
    await local.stop();
    throw new Error(health.problems.join("; "));
  }
  return { client: cairn({ url: local.url, token: await developmentToken("*") }), stop: local.stop };
}

const { values: options } = parseArgs({
  options: {
    file: { type: "string", multiple: true },
    granularity: { type: "string", default: "turn" },
    url: { type: "string" },
    token: { type: "string" },
    model: { type: "string" },
    "one-store": { type: "boolean", default: false },
    without: { type: "boolean", default: false },
    // Asks each question inside two polite sentences too; with one typo in its longest word too.
    wrapped: { type: "boolean", default: false },
    typos: { type: "boolean", default: false },
    "held-out": { type: "boolean", default: false },
    fit: { type: "boolean", default: false },
    // Asks what has no answer too.
    abstain: { type: "boolean", default: false },
    // The server at `--url` has another model than the embedded one.
    contextual: { type: "boolean", default: false },
    // Without the arms alone: it shows that the evaluation works, and fails where Cairn finds too little.
    smoke: { type: "boolean", default: false },
  },
});
if (options.granularity !== "turn" && options.granularity !== "session") {
  console.error(USAGE);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(130));
const examples = join(import.meta.dirname, "../examples");
const own = [
  join(import.meta.dirname, "paraphrases.json"),
  ...readdirSync(examples)
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(examples, name)),
];
const read = (options.file ?? own).flatMap(readCorpora);
const corpora = options["one-store"] ? [inOneStore(read)] : read;
// `--without` takes each part of a score out; `--held-out` shows what weights give that were chosen on the other conversations.
const phrasings = [...(options.wrapped ? [wrappings] : []), ...(options.typos ? [typos] : [])];
const ways = options.smoke
  ? [CAIRN]
  : phrasings.length > 0
    ? [CAIRN, ...phrased(Object.assign({}, ...phrasings))]
    : options["held-out"]
      ? settings
      : options.without
        ? [...alone, ...without]
        : alone;
const ofOtherModel = options.contextual || (options.model ?? "static-en-256") !== "static-en-256";
const embedder: EmbedderKind = ofOtherModel ? "contextual" : "static";
const { client, stop } = await server(options);
try {
  const all: { corpus: Corpus; runs: Run[]; best: Best[] }[] = [];
  const explained: Explained[] = [];
  const judged: Judged[] = [];
  for (const corpus of corpora) {
    const owner = `eval-${randomUUID()}`;
    const names = await ingest(client, owner, corpus);
    if (options.abstain) {
      judged.push(...(await judge(client, owner, { corpus, others: corpora })));
      continue;
    }
    if (options.fit) {
      explained.push(...(await explain(client, owner, { corpus, names })));
      continue;
    }
    const runs = await ask(client, owner, { corpus, names, ways });
    const shown = options.granularity === "turn" ? corpus : bySession(corpus);
    all.push({
      corpus: shown,
      runs: options.granularity === "turn" ? runs : runs.map((run) => sessionsOf(corpus, run)),
      best: options["held-out"] ? [] : await bestScores(client, owner, corpus),
    });
  }
  const title = (name: string) => `${name} by ${options.granularity}`;
  if (options.abstain) printConfidence(corpora, judged);
  else if (options.fit) printFit(corpora, explained, embedder);
  else if (options["held-out"]) {
    const held = heldOut(all);
    for (const { corpus, run } of held) print(title(corpus.name), corpus.questions, [run]);
    print(title("all, held out"), everyQuestion(all), [
      together(
        "chosen on the others",
        held.map(({ run }) => run),
      ),
    ]);
  } else {
    for (const { corpus, runs } of all) print(title(corpus.name), corpus.questions, runs);
    const named = (name: string) => all.flatMap(({ runs }) => runs.filter((run) => run.name === name));
    if (all.length > 1)
      print(
        title("all"),
        everyQuestion(all),
        [FLOOR, ...ways.map(({ name }) => name)].map((name) => together(name, named(name))),
      );
    const best = all.flatMap((one) => one.best);
    if (best.length > 0) printBest(best);
    if (options.granularity === "turn") {
      const worse = printPaired(all);
      if (worse.length > 0) throw new Error(`Cairn finds less than ${FLOOR}: ${worse.join("; ")}`);
    }
  }
} finally {
  await stop();
}
