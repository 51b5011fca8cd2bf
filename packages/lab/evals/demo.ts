// `npm run demo`: plays a conversation into a running Cairn, asks questions, and shows what is recalled.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Cairn, cairn, type RecallAnswer } from "#client/index.ts";
import {
  authorOf,
  type Conversation,
  contentOf,
  isAnswerable,
  type Question,
  readConversations,
  turnsOf,
} from "./demo/conversation.ts";
import { shownHits } from "./demo/shown.ts";
import { bold, faint, percentile, progress } from "./demo/terminal.ts";
import { plainFts5 } from "./floor.ts";
import { developmentToken, freePort, type LocalServer, startLocalServer } from "../../dev/local-server.ts";

const K = 10;
const SHOWN_QUESTIONS = 8;
const ERASED_WITHIN_MS = 60_000;

type Scores = { questions: number; ours: number; floor: number; times: number[] };

/** The share of the evidence that is among the ids. */
const share = (evidence: readonly string[], ids: readonly string[]): number =>
  evidence.filter((id) => ids.includes(id)).length / evidence.length;

async function appendTurns(
  client: Cairn,
  user: string,
  conversation: Conversation,
): Promise<{ threadId: string; turnIds: Map<number, string> }> {
  const turns = turnsOf(conversation);
  const thread = await client.threads.create(user, { title: conversation.id, agent: "demo" });
  const turnIds = new Map<number, string>();
  const draw = progress("appending the turns", turns.length);
  for (const [i, turn] of turns.entries()) {
    const { firstSeq } = await client.threads.append(thread.id, [
      { ...authorOf(turn, turns[0]?.speaker), content: contentOf(turn) },
    ]);
    if (firstSeq !== undefined) turnIds.set(firstSeq, turn.id);
    draw(i + 1);
  }
  return { threadId: thread.id, turnIds };
}

/** Remembers the facts in order; one that replaces another makes Cairn forget that one. */
async function rememberFacts(client: Cairn, user: string, { facts }: Conversation): Promise<void> {
  if (facts.length === 0) return;
  const draw = progress("remembering the facts", facts.length);
  const ids = new Map<string, string>();
  for (const [i, { id, text, tags, replaces }] of facts.entries()) {
    const outdated = replaces === undefined ? undefined : ids.get(replaces);
    if (outdated !== undefined) await client.memories.forget(user, outdated);
    ids.set(id, (await client.memories.remember(user, { text, ...(tags && { tags }) })).id);
    draw(i + 1);
  }
}

/** Waits until everything is found by meaning too; words find it from the first moment on. */
async function waitForVectors(client: Cairn, user: string): Promise<void> {
  let draw: ((done: number) => void) | undefined;
  for (;;) {
    const { freshness } = await client.recall(user, { query: "anything", k: 1 });
    draw ??= progress("indexing by meaning", freshness.indexed);
    draw(freshness.indexed - freshness.pending);
    if (freshness.pending === 0) return;
    await sleep(200);
  }
}

/** Shows an answer's hits; right is a turn that the question names as its evidence. */
function show(
  { question, evidence }: Question,
  { hits, degraded }: RecallAnswer,
  { ms, turnIds, speakers }: { ms: number; turnIds: Map<number, string>; speakers: Map<string, string> },
): void {
  console.log(`\n  ${bold(question)}  ${faint(`${ms.toFixed(0)} ms${degraded ? ", degraded" : ""}`)}`);
  const shown = hits.map(({ kind, text, why, seq }) => {
    const turn = kind === "message" ? turnIds.get(seq ?? 0) : undefined;
    const speaker = turn === undefined ? undefined : speakers.get(turn);
    return {
      source: turn ?? kind,
      text: speaker === undefined ? text : `${speaker}: ${text}`,
      found: [why.lexical && `words #${why.lexical}`, why.vector && `meaning #${why.vector}`]
        .filter(Boolean)
        .join(", "),
      right: turn !== undefined && evidence.includes(turn),
    };
  });
  const width = process.stdout.columns ?? 110;
  for (const line of shownHits(shown, { query: question, width, evidence })) console.log(line);
}

async function play(client: Cairn, user: string, conversation: Conversation): Promise<Scores> {
  const turns = turnsOf(conversation);
  const speakers = new Map(turns.map(({ id, speaker }) => [id, speaker]));
  const answerable = conversation.questions.filter(isAnswerable).map(({ evidence, ...question }) => ({
    ...question,
    // Facts are shown and not judged.
    evidence: evidence.filter((id) => speakers.has(id)),
  }));
  const scored = answerable.filter(({ evidence }) => evidence.length > 0);
  console.log(
    `\n${bold(conversation.id)}: ${conversation.sessions.length} sessions, ${turns.length} turns, ` +
      `${conversation.facts.length} facts, ${conversation.questions.length} questions`,
  );
  const { threadId, turnIds } = await appendTurns(client, user, conversation);
  await rememberFacts(client, user, conversation);
  await waitForVectors(client, user);

  const times: number[] = [];
  console.log(
    `\n  The recalled turns and facts, best first. S3:7 is turn 7 of session 3. ✓ marks a turn that holds the answer,
  as the file says; facts are not judged. In brackets: the rank by words and the rank by meaning. The file has
  hard questions on purpose: the sums at the end compare all of them with plain full-text search.`,
  );
  for (const question of answerable.slice(0, SHOWN_QUESTIONS)) {
    const started = performance.now();
    const answer = await client.recall(user, { query: question.question, k: K });
    show(question, answer, {
      ms: performance.now() - started,
      turnIds,
      speakers,
    });
  }

  const floor = plainFts5(
    turns.map((turn) => ({ id: turn.id, text: `${turn.speaker}: ${contentOf(turn)}` })),
  );
  const scores = { questions: scored.length, ours: 0, floor: 0, times };
  if (scored.length === 0) return scores;
  console.log();
  const draw = progress("asking every question", scored.length);
  for (const [i, { question, evidence }] of scored.entries()) {
    const started = performance.now();
    const { hits } = await client.recall(user, { query: question, k: K, threadId, kinds: ["message"] });
    times.push(performance.now() - started);
    scores.ours += share(
      evidence,
      hits.map(({ seq }) => turnIds.get(seq ?? 0) ?? ""),
    );
    scores.floor += share(evidence, floor(question, K));
    draw(i + 1);
  }
  return scores;
}

/** Leaves nothing of the demo in a Cairn that goes on: erases the user, and waits for its end within a bound. */
async function erase(client: Cairn, user: string): Promise<void> {
  const { id } = await client.erasures.user(user);
  const deadline = performance.now() + ERASED_WITHIN_MS;
  while (performance.now() < deadline) {
    if ((await client.erasures.get(id))?.status === "done") return;
    await sleep(200);
  }
  console.log(`Cairn is still erasing the demo's data: ${id}`);
}

/** Prints the shares of the evidence that were found. False where Cairn found no more than the words alone do. */
function summarise(all: readonly Scores[]): boolean {
  const questions = all.reduce((sum, one) => sum + one.questions, 0);
  if (questions === 0) return false;
  const total = (arm: "ours" | "floor") => all.reduce((sum, one) => sum + one[arm], 0);
  const percent = (arm: "ours" | "floor") => `${((100 * total(arm)) / questions).toFixed(1)} %`;
  const times = all.flatMap((one) => one.times);
  console.log(`
${bold(`Evidence Recall@${K}`)} over ${questions} questions: the share of the turns that hold the answer among the first ${K}
  Cairn        ${percent("ours")}
  plain FTS5   ${percent("floor")}
  recall takes ${percentile(times, 0.5).toFixed(1)} ms (p50), ${percentile(times, 0.95).toFixed(1)} ms (p95), over HTTP through wrangler's development proxy`);
  return total("ours") > total("floor");
}

/** The server that `npm start` runs, if it is up; else one of the demo's own, with state that goes with it. */
async function findOrStart(): Promise<{ url: string; stop: () => Promise<void> }> {
  const url = `http://127.0.0.1:${process.env.PORT ?? 8787}`;
  const up = await fetch(`${url}/health`).then(
    (health) => health.ok,
    () => false,
  );
  if (up) return { url, stop: async () => {} };
  console.log(`Cairn does not run at ${url} (set PORT for another port): starting it for the demo …`);
  const state = mkdtempSync(join(tmpdir(), "cairn-demo-"));
  process.once("exit", () => rmSync(state, { recursive: true, force: true }));
  const server: LocalServer = await startLocalServer({ port: await freePort(), state });
  return server;
}

/** Reads the options. A mistake in them prints a sentence without a stack. */
function input(): { conversations: Conversation[]; smoke: boolean } {
  try {
    const { values } = parseArgs({
      options: { file: { type: "string" }, smoke: { type: "boolean", default: false } },
    });
    const file = values.file ?? join(import.meta.dirname, "../../../examples/moving-house.json");
    return { conversations: readConversations(file), smoke: values.smoke };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    console.error("usage: npm run demo -- [--file CONVERSATIONS.json] [--smoke]");
    return process.exit(2);
  }
}

// The demo stops the server that it started, and removes its state, however the demo ends.
let stop = async (): Promise<void> => {};
const interrupt: { handled?: Promise<void> } = {};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => {
    interrupt.handled = stop().finally(() => process.exit(130));
  });
const { conversations, smoke } = input();
const server = await findOrStart();
const { url } = server;
({ stop } = server);
console.log(`Cairn is up at ${url}`);
try {
  const all: Scores[] = [];
  for (const conversation of conversations) {
    const user = `demo-${randomUUID()}`;
    const client = cairn({ url, token: await developmentToken(user) });
    try {
      all.push(await play(client, user, conversation));
    } finally {
      await erase(client, user);
    }
  }
  const better = summarise(all);
  if (smoke && !better) throw new Error("Cairn did not find more evidence than plain FTS5");
} catch (error) {
  // The interrupt ends the calls under way, too.
  await interrupt.handled;
  throw error;
} finally {
  await stop();
}
