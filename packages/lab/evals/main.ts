// `npm run eval`: measures recall on every kind of data. Everything goes through the public API of a running Cairn.
import { randomUUID } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { rankingModels, rankingNumbers } from "#domain/ranking/weights.ts";
import { signalNames } from "#domain/ranking/confidence.ts";
import { foreignTo, printAbstaining } from "./abstain.ts";
import { askEach, askInEachWay, type Told, tell, waysToAsk } from "./ask.ts";
import { type Answered, failures, joined, printAnswered } from "./compare.ts";
import { ANSWERABLE, type Asked } from "./confidence.ts";
import { typos, wrappings } from "./phrasings.ts";
import { bySession, type Corpus, inOneStore, type Question, readCorpora } from "./dataset.ts";
import { printPrompted, type Prompted, promptEach, STATEMENT } from "./context.ts";
import { checkEchoes } from "./echo.ts";
import { extractFailures, extractFrom, type Judged, printExtracted, statedIn } from "./extract.ts";
import { type Explained, explainedHits } from "./fit.ts";
import { askedOf, casesOf, printFittedTruth, withConfidence } from "./fit-truth.ts";
import { type PairScorer, pairScorerIn, pairsOfCases, pairsOfCorpus, printPairs } from "./pairs.ts";
import { LOST, printFittedConfidence, printFittedWeights } from "./print-fit.ts";
import { printTruth, printWrong, shareIn, truthFailures } from "./print-truth.ts";
import { recordedModel } from "./recorded-model.ts";
import { connect } from "./server.ts";
import { printAblation } from "./ablate.ts";
import { printStatements } from "./statements.ts";
import { judgeCairn, judgeFts5 } from "./truth.ts";
import { readTruth } from "./truth-cases.ts";

const USAGE = `usage: npm run eval -- [--file PATH]... [--one-store] [--granularity turn|session]
                    [--wrapped] [--typos] [--fit | --abstain | --context [--k N] [--budget TOKENS] | --echo | --smoke]
                    [--fit --truth PATH [--write]]
                    [--pairs words|labels|deployment [--truth PATH]]
                    [--truth PATH [--verbose] [--min-right SHARE] [--min-kind SHARE]]
                    [--extract [--answers FILE]]
                    [--statements FILE [--verbose | --ablate]]...
                    [--model NAME] [--var NAME=VALUE]... [--url URL --token TOKEN]`;
const ownFile = (path: string): string => join(import.meta.dirname, path);

const { values: options } = parseArgs({
  options: {
    file: { type: "string", multiple: true },
    granularity: { type: "string", default: "turn" },
    "one-store": { type: "boolean", default: false },
    // Asks the questions in polite sentences too, and with a typo.
    wrapped: { type: "boolean", default: false },
    typos: { type: "boolean", default: false },
    fit: { type: "boolean", default: false },
    // Of a fit of the confidence to a file of --truth: writes it to weights.json.
    write: { type: "boolean", default: false },
    abstain: { type: "boolean", default: false },
    context: { type: "boolean", default: false },
    // Of a context: the most hits in a turn's block, and the tokens of both blocks.
    k: { type: "string" },
    budget: { type: "string", default: "1000" },
    echo: { type: "boolean", default: false },
    extract: { type: "boolean", default: false },
    // Of an extraction: a model's recorded answers. With LLM_URL in the environment, what the file lacks is asked and added.
    answers: { type: "string" },
    // Files of statements and facts, which the checks of an ingest judge.
    statements: { type: "string", multiple: true },
    // Of such files: takes each entry of the languages' records out in turn.
    ablate: { type: "boolean", default: false },
    // A file of small stores and queries. With a bound, from 0 to 1, a lower share of right queries fails: of all, of a kind.
    truth: { type: "string" },
    "min-right": { type: "string", default: "0" },
    "min-kind": { type: "string", default: "0" },
    // Of a file of queries or of statements: prints each that is judged wrongly.
    verbose: { type: "boolean", default: false },
    // What a score of question and hit together would change: of the same, or of the conversations.
    pairs: { type: "string" },
    // For CI: the default with one arm less.
    smoke: { type: "boolean", default: false },
    // Of the evaluation's own server: EMBEDDINGS_MODEL, and any other variable.
    model: { type: "string" },
    var: { type: "string", multiple: true },
    url: { type: "string" },
    token: { type: "string" },
  },
});
if (options.statements !== undefined) {
  // No server starts for nothing.
  if (options.ablate) printAblation(options.statements);
  else for (const path of options.statements) printStatements(path, options.verbose);
  process.exit(0);
}
if (options.granularity !== "turn" && options.granularity !== "session") {
  console.error(USAGE);
  process.exit(2);
}
// Any other bound would let everything pass, or nothing.
for (const name of ["min-right", "min-kind"] as const) {
  if (shareIn(options[name]) !== null) continue;
  console.error(`--${name} is ${options[name]}: it is a share from 0 to 1, as 0.8`);
  process.exit(2);
}
const bounds = {
  budget: Number(options.budget),
  ...(options.k !== undefined && { k: Number(options.k) }),
};
const pairs = options.pairs === undefined ? undefined : pairScorerIn(options.pairs);
if (options.pairs !== undefined && pairs === undefined) {
  console.error(USAGE);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(130));

const ownSets = () => [
  ownFile("paraphrases.json"),
  ...globSync(ownFile("../../../examples/*.json")).toSorted(),
];
const files = options.file ?? ownSets();
const sets = files
  .map(readCorpora)
  .map((corpora) => (options["one-store"] ? [inOneStore(corpora)] : corpora));
const setOf = (corpora: readonly Corpus[]): string => corpora[0]?.set ?? "";
const compares = !options.fit && !options.abstain && !options.context && !options.extract && !options.echo;
if (compares && options.truth === undefined) {
  // No server starts for nothing.
  const empty = sets.filter((corpora) => corpora.every(({ questions }) => questions.length === 0));
  for (const corpora of empty) console.error(`${setOf(corpora)} has no question`);
  if (empty.length > 0) process.exit(1);
}
const assignments = (options.var ?? []).map((one) => [one.split("=", 1)[0], one.slice(one.indexOf("=") + 1)]);
const { LLM_URL: url, LLM_MODEL: llm, LLM_KEY: key } = process.env;
const real = url && llm ? { url, model: llm, ...(key && { key }) } : null;
const recorded = options.answers === undefined ? null : await recordedModel(options.answers, real);
const { client, embedder, model, stop } = await connect({
  ...options,
  vars: {
    // The evaluation asks no model but the recorded one.
    LLM_MODEL: "none",
    ...recorded?.vars,
    ...Object.fromEntries(assignments),
    ...(options.model !== undefined && { EMBEDDINGS_MODEL: options.model }),
  },
});

/** Every corpus of a set, told to a user of its own. */
async function* toldCorpora(corpora: readonly Corpus[]): AsyncGenerator<Told> {
  for (const corpus of corpora) yield tell(client, `eval-${randomUUID()}`, corpus);
}

async function compare(): Promise<string[]> {
  const phrasings = { ...(options.wrapped && wrappings), ...(options.typos && typos) };
  const ways = waysToAsk(phrasings, options.smoke);
  const bySet: Answered[] = [];
  for (const set of sets) {
    const answered: Answered[] = [];
    for await (const told of toldCorpora(set)) {
      const runs = await askInEachWay(client, told, ways);
      answered.push(
        options.granularity === "turn"
          ? { set: setOf(set), questions: told.corpus.questions, runs }
          : inSessions({ set: setOf(set), questions: told.corpus.questions, runs }, told.corpus),
      );
    }
    bySet.push(joined(setOf(set), answered));
  }
  const all = bySet.length > 1 ? [...bySet, joined("all sets", bySet)] : bySet;
  for (const one of all) printAnswered(one);
  return all.flatMap(failures);
}

/** A session ranks by its best turn. */
function inSessions({ runs, ...answered }: Answered, corpus: Corpus): Answered {
  const sessionOf = new Map(
    corpus.sessions.flatMap(({ id, turns }) => turns.map((turn) => [turn.id, id] as const)),
  );
  const sessions = (ids: readonly string[]) => [...new Set(ids.map((id) => sessionOf.get(id) ?? id))];
  return {
    ...answered,
    questions: bySession(corpus).questions,
    runs: runs.map((run) => ({ ...run, ranked: run.ranked.map(sessions) })),
  };
}

/** The features of the hits of every question, and the confidence in answers to these and to questions without any. */
async function explained(): Promise<{ hits: Explained[]; asked: Asked[] }> {
  const hits: Explained[] = [];
  const asked: Asked[] = [];
  for (const set of sets)
    for await (const told of toldCorpora(set)) {
      const { corpus, names } = told;
      const about = { set: corpus.set, corpus: `${corpus.set} ${corpus.name}` };
      if (options.fit)
        await askEach(client, told, {
          queries: corpus.questions,
          body: { k: 100, explain: true },
          use: (answer, { relevant }) =>
            hits.push({ ...about, relevant, hits: explainedHits(answer, names) }),
        });
      await askEach(client, told, {
        queries: withAndWithoutAnswer(corpus, set),
        body: { k: 1, explain: true, answerable: "auto" },
        use: ({ confidence, signals = {}, abstained = false }, { kind, only }) => {
          const all = signalNames.map((name) => [name, signals[name] ?? 0] as const);
          const named = Object.fromEntries(all) as Asked["signals"];
          asked.push({ ...about, kind, ...(only && { only }), confidence, abstained, signals: named });
        },
      });
    }
  return { hits, asked };
}

/** The memory of a prompt for every question and statement, and for what nothing answers. */
async function prompted(): Promise<Prompted[]> {
  const all: Prompted[] = [];
  for (const set of sets)
    for await (const told of toldCorpora(set))
      all.push(
        ...(await promptEach(
          client,
          told,
          [...withAndWithoutAnswer(told.corpus, set), ...statementsTo(told.corpus), ...newSmallTalk()],
          bounds,
        )),
      );
  return all;
}

/** The facts that come of the conversations with a list, and the memory of a prompt for their questions. */
async function extracted(): Promise<{ judged: Judged[]; prompts: Prompted[] }> {
  const judged: Judged[] = [];
  const prompts: Prompted[] = [];
  for (const [i, path] of files.entries()) {
    if (path.endsWith("paraphrases.json")) continue;
    const stated = statedIn(path);
    for (const corpus of sets[i] ?? []) {
      const list = stated.get(corpus.name);
      if (list === undefined) continue;
      const found = await extractFrom(client, `eval-${randomUUID()}`, { corpus, stated: list });
      judged.push(found.judged);
      const queries = corpus.questions.map(({ query, relevant }) => ({ query, relevant, kind: ANSWERABLE }));
      prompts.push(...(await promptEach(client, found.told, queries, bounds)));
    }
  }
  return { judged, prompts };
}

/** What comes first, and where nothing comes, in the cases of a file. */
async function truth(path: string): Promise<string[]> {
  const cases = readTruth(path);
  const floor = await judgeFts5(cases);
  const judged = await judgeCairn(client, cases);
  printTruth(judged, floor);
  if (options.verbose) printWrong(judged);
  return truthFailures(judged, {
    right: shareIn(options["min-right"]) ?? 0,
    kind: shareIn(options["min-kind"]) ?? 0,
  });
}

type Query = Pick<Asked, "kind" | "only"> & { query: string; relevant?: Question["relevant"] };

function withAndWithoutAnswer(corpus: Corpus, corpora: readonly Corpus[]): Query[] {
  const unrelated = z
    .record(z.enum(["fit", "report"]), z.record(z.string(), z.array(z.string())))
    .parse(JSON.parse(readFileSync(ownFile("unrelated.json"), "utf8")));
  return [
    ...corpus.questions.map(({ query, relevant }) => ({ query, relevant, kind: ANSWERABLE })),
    ...corpus.unanswerable.map(({ query, category }) => ({ query, kind: category })),
    ...foreignTo(corpus, corpora).map((query) => ({ query, kind: "foreign" })),
    ...(["fit", "report"] as const).flatMap((only) =>
      Object.entries(unrelated[only]).flatMap(([kind, queries]) =>
        queries.map((query) => ({ query, kind, only })),
      ),
    ),
  ];
}

/** Messages that ask nothing, and to which something that is stored matters. */
function statementsTo({ name, questions, memories }: Corpus): Query[] {
  const all = z
    .record(z.string(), z.array(z.object({ query: z.string(), evidence: z.string() })))
    .parse(JSON.parse(readFileSync(ownFile("statements.json"), "utf8")));
  const partOf = (id: string) =>
    questions.flatMap(({ relevant }) => relevant).find((part) => part.has(id)) ?? new Set([id]);
  const known = new Set(memories.map(({ id }) => id));
  return (all[name] ?? [])
    .filter(({ evidence }) => known.has(evidence))
    .map(({ query, evidence }) => ({ query, kind: STATEMENT, relevant: [partOf(evidence)] }));
}

/** Small talk that no rule was written for. */
const newSmallTalk = (): Query[] =>
  Object.entries(
    z
      .record(z.string(), z.array(z.string()))
      .parse(JSON.parse(readFileSync(ownFile("small-talk.json"), "utf8"))),
  ).flatMap(([kind, queries]) => queries.map((query) => ({ query, kind })));

/** The confidence alone, of small stores and paraphrases. */
async function fitToTruth(path: string): Promise<void> {
  const cases = [...readTruth(path), ...casesOf(readCorpora(ownFile("paraphrases.json")))];
  const fitted = printFittedTruth(await askedOf(client, cases), rankingModels[embedder]);
  console.log(`\nFor documents with vectors of ${model} (${embedder}):\n${JSON.stringify(fitted, null, 2)}`);
  if (!options.write) return;
  const numbers = withConfidence(rankingNumbers, embedder, fitted);
  writeFileSync(ownFile("../../../src/domain/ranking/weights.json"), `${JSON.stringify(numbers, null, 2)}\n`);
}

async function judgePairs(scorer: PairScorer): Promise<void> {
  const asked: Awaited<ReturnType<typeof pairsOfCorpus>> = [];
  if (options.truth !== undefined)
    asked.push(...(await pairsOfCases(client, readTruth(options.truth), scorer)));
  else
    for (const set of sets)
      for await (const told of toldCorpora(set)) asked.push(...(await pairsOfCorpus(client, told, scorer)));
  printPairs(scorer, asked, rankingModels[embedder]);
}

async function fit(): Promise<void> {
  const before = rankingModels[embedder];
  const { hits, asked } = await explained();
  const weights = printFittedWeights(hits, before.weights);
  const fitted = { weights, ...printFittedConfidence(asked, before.confidence) };
  console.log(`\nFor documents with vectors of ${model} (${embedder}):\n${JSON.stringify(fitted, null, 2)}`);
}

try {
  let found: string[] = [];
  if (pairs !== undefined) await judgePairs(pairs);
  else if (options.fit && options.truth !== undefined) await fitToTruth(options.truth);
  else if (options.fit) await fit();
  else if (options.abstain) printAbstaining((await explained()).asked, LOST);
  else if (options.context) printPrompted(await prompted(), bounds.budget);
  else if (options.extract) {
    const { judged, prompts } = await extracted();
    printExtracted(judged, recorded?.model ?? null);
    printPrompted(prompts, bounds.budget);
    found = extractFailures(judged);
  } else if (options.truth !== undefined) found = await truth(options.truth);
  else if (options.echo) found = await checkEchoes(client, { each: true });
  else found = [...(await compare()), ...(await checkEchoes(client, { each: false }))];
  for (const sentence of found) console.error(sentence);
  process.exitCode = found.length > 0 ? 1 : 0;
} finally {
  recorded?.stop();
  await stop();
}
