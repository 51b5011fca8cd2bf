// The numbers that pages promise, each with the constant that keeps the promise.
import * as RECORDS from "../../src/domain/language/records.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { longestWait } from "../../durable-objects/storage/back-off.ts";
import { limits } from "../../src/domain/limits.ts";

const root = join(import.meta.dirname, "../..");
export const read = (file: string): string => readFileSync(join(root, file), "utf8");

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const [KIB, MIB] = [1024, 1024 ** 2];
const object = "durable-objects/user-memory";

/**
 * The value of a constant: `NAME`, or one that a pattern's group finds. It is read from the source, since many constants are
 * private, and their modules load only in workerd.
 */
function valueOf(file: string, name: string | RegExp): number {
  const source = read(file);
  if (name instanceof RegExp) return evaluated(name.exec(source)?.[1] ?? "", file);
  const [, alone] = new RegExp(`const ${name}(?:: \\w+)? = ([^;]+);`).exec(source) ?? [];
  if (alone !== undefined) return evaluated(alone, file);
  const [, names = "", values = ""] =
    new RegExp(`const \\[([^\\]]*\\b${name}\\b[^\\]]*)\\] = \\[([^\\]]*)\\];`).exec(source) ?? [];
  const at = names.split(",").findIndex((one) => one.trim() === name);
  return evaluated(values.split(",")[at] ?? "", file);
}

/** A product or a difference of numbers and of other constants of the file. */
function evaluated(text: string, file: string): number {
  const factor = (one: string): number =>
    /^[\d_.]+$/.test(one) ? Number(one.replaceAll("_", "")) : one === "" ? NaN : valueOf(file, one);
  const product = (one: string) =>
    one
      .split("*")
      .map((part) => factor(part.trim()))
      .reduce((a, b) => a * b);
  return text
    .split(" - ")
    .map(product)
    .reduce((a, b) => a - b);
}

/** `says`: words of the page, with the numbers in braces; `are`: these, in the code. */
export type Promised = { says: string; are: readonly number[] };
/** Numbers that are no promise, and why: in these words, a table's row, or a section up to the next one of its level. */
export type Exempt = { because: string } & ({ says: string } | { row: string } | { section: string });

const rows = (...all: [says: string, ...are: number[]][]): Promised[] =>
  all.map(([says, ...are]) => ({ says, are }));

const layer = (name: string) => `src/domain/context/layers/${name}.ts`;
const least = "src/domain/context/worth-showing.ts";
const search = `${object}/context/layer-search.ts`;
const instructions = "src/domain/context/instructions.ts";
/** The share of all these layers; no number if they differ. */
const share = (...names: string[]) => {
  const all = new Set(names.map((name) => valueOf(layer(name), /^  share: ([\d.]+),$/m)));
  return all.size === 1 ? Math.max(...all) : NaN;
};
const shown = (name: string) => valueOf(layer(name), "N");

const context = rows(
  ["the first {32,768} UTF-16 code units", valueOf("src/domain/context/message-hash.ts", "CHARACTERS")],
  ["for the last {2,000} turns at least", valueOf(`${object}/context/context-store.ts`, "MOST_TURNS")],
  [
    "exceed {200} tokens and a {quarter} of it",
    valueOf(`${object}/context/stable-blocks.ts`, /MOST_CHANGES = \{.*tokens: (\d+)/),
    valueOf(`${object}/context/stable-blocks.ts`, /MOST_CHANGES = \{ share: ([\d.]+)/),
  ],
  [
    "{5} minutes for `anthropic` (the default), {an} hour for `openai`",
    valueOf("src/domain/prompt-cache/lifetime.ts", /"anthropic" \? \[(5 \* MINUTE_MS)/) / MINUTE,
    valueOf("src/domain/prompt-cache/lifetime.ts", /: \[(HOUR_MS), DAY_MS\]/) / HOUR,
  ],
  ["preferences, the newest first | `n` ({20})", shown("instructions")],
  [
    "A sentence of more than {300} characters is none. A message with more than {8}",
    valueOf(instructions, "LONGEST"),
    valueOf(instructions, "MOST"),
  ],
  ["within the first {2,000} characters of a message", valueOf(instructions, "LOOKED_AT")],
  ["{0.15} for `instructions`", share("instructions")],
  ["one line per subject | `n` ({40})", shown("profile")],
  ["(`{0.5}` if unset)".replaceAll("`", ""), valueOf(layer("order"), "USUAL_IMPORTANCE")],
  ["then the newest | `n` ({20})", shown("facts")],
  ["the newest reflections | `n` ({3})", shown("reflections")],
  ["under a `prefix` | `n` ({20})", shown("entries")],
  ["`k` ({50}), `kinds`, `roles`, `tags`, `minScore`", valueOf(layer("recalled"), "K")],
  [
    "{0.1} in a store of {300} documents or more, up to {0.4}",
    valueOf(least, /\[SHARE, MORE\] = \[([\d.]+)/),
    valueOf(least, /\[SMALL, LARGE\] = \[\d+, (\d+)/),
    valueOf(least, /\[SHARE, MORE\] = \[([\d.]+)/) + valueOf(least, /\[SHARE, MORE\] = \[[\d.]+, ([\d.]+)/),
  ],
  ["in one of {50} or fewer", valueOf(least, /\[SMALL, LARGE\] = \[(\d+)/)],
  ["`n` ({5}), `tags`, `minScore` ({0.3})", shown("procedures"), valueOf(layer("procedures"), "MIN_SCORE")],
  [
    "`recent` ({5}), `similar` ({3})",
    valueOf(layer("episodes"), "RECENT"),
    valueOf(layer("episodes"), "SIMILAR"),
  ],
  ["`n` / {2} to `n` | `n` ({20})", 2, valueOf(layer("history"), "HISTORY")],
  ["of the thread's last messages, to {1,000};", limits.page],
  ["the last {20} messages of the thread count", valueOf(layer("history"), "HISTORY")],
  ["`timeoutMs` ({2,000}) limits a search", valueOf(search, "SEARCH_MS")],
  ["a share of the budget: {0.2} for `profile`", share("profile", "facts", "procedures", "episodes")],
  ["{0.3} for `entries` and `summary`", share("entries", "summary")],
  ["{0.1} for `reflections`", share("reflections")],
  ["more than {1,500} characters is cut", valueOf("src/domain/conversation/stored-text.ts", "ITEM")],
  ["the last {20} messages of the thread count", valueOf(`${object}/context/turn-names.ts`, "HELD")],
  [
    "`budget` ({2,000} tokens, {100} to {100,000})",
    valueOf("src/worker/use-cases/context.ts", "BUDGET"),
    limits.contextTokensMin,
    limits.contextTokens,
  ],
  ["the best {5} come first", valueOf(least, "FIRST")],
  ["A token counts as {four} characters", valueOf("src/domain/context/tokens.ts", "CHARACTERS_PER_TOKEN")],
  ["Up to {50} hits are shown", valueOf(layer("recalled"), "K")],
  [
    "for {an} hour (`snapshotTtl`, up to {a} day)",
    valueOf("src/worker/use-cases/context.ts", "HOUR_MS") / HOUR,
    limits.snapshotMs / DAY,
  ],
);

const webhook = `${object}/changes/webhook-delivery.ts`;
const changes = rows(
  [
    "{1} to {1,000} items ({100} unless set)",
    1,
    limits.page,
    valueOf("src/worker/routes/changes.ts", /limit = (\d+)/),
  ],
  ["away for more than {30} days", valueOf(`${object}/core/removals.ts`, "LIFE_MS") / DAY],
  ["no answer within {15} seconds", valueOf("src/platform/webhooks/webhook.ts", "WITHIN_MS") / SECOND],
  [
    "after {5} s, doubling to {one} hour",
    valueOf("durable-objects/storage/back-off.ts", "FIRST_RETRY_MS") / SECOND,
    valueOf(webhook, "LAST_RETRY_MS") / HOUR,
  ],
  ["`Retry-After` (up to {one} hour)", valueOf(webhook, "LAST_RETRY_MS") / HOUR],
  ["After {ten} failures in a row", valueOf("src/platform/d1/webhook-breaker.ts", "OPENS_AT")],
  [
    "After {seven} days without a success",
    valueOf("src/platform/d1/webhook-breaker.ts", /PAUSED_AFTER_MS = (\d+) \*/),
  ],
  ["of each run, {500}", valueOf("src/worker/use-cases/webhook.ts", "WAKES")],
  ["in parts of {200} items", valueOf(webhook, "ITEMS")],
  ["was away for {30} days gets", valueOf(`${object}/core/removals.ts`, "LIFE_MS") / DAY],
);

const retrievers = `${object}/recall/retrievers.ts`;
const recallService = `${object}/recall/recall-service.ts`;
const spelling = "src/domain/ranking/spelling.ts";
const features = "src/domain/ranking/features.ts";
const weights = "src/domain/ranking/weights.json";
const rerank = "src/worker/use-cases/rerank.ts";
const shared = valueOf("src/platform/isolate.ts", "VECTOR_BYTES");
const cached = valueOf("src/platform/bindings.ts", "VECTOR_BYTES");
const recall = rows(
  [
    "up to {256} KiB. Above {8} KiB, the first and last {4} KiB are searched",
    limits.query / KIB,
    limits.searchedQuery / KIB,
    limits.searchedQuery / 2 / KIB,
  ],
  [
    "the maximum of hits: {10}, up to {100}",
    valueOf("src/worker/use-cases/recall.ts", /const { k = (\d+),/),
    limits.k,
  ],
  ["on each side of a message hit: {1}, up to {5}", valueOf(recallService, "WINDOW"), limits.window],
  ["reads the best {30}", valueOf(rerank, "RERANKED")],
  ["if it is asked: {300}", valueOf(recallService, "DEADLINE_MS")],
  ["A hit of more than {450} characters", valueOf("src/domain/ranking/passages.ts", "WHOLE")],
  ["searched up to the first {32,768} characters", limits.searchableText],
  ["A mistyped word of {five} letters or more", valueOf(spelling, "SHORTEST")],
  ["Each arm returns {32} documents", valueOf(retrievers, "CANDIDATES")],
  ["twice as many among more than {1,000}", valueOf(retrievers, "LARGE")],
  ["Each message brings {two} neighbours on each side", valueOf("src/domain/ranking/pool.ts", "REACH")],
  ["whose confidence is below {0.13}", valueOf(weights, /"threshold": ([\d.]+)/)],
  ["the threshold is {0.25}", valueOf(weights, /"strictThreshold": ([\d.]+)/)],
  ["{2} seconds at most. If it fails", valueOf(rerank, "WITHIN_MS") / SECOND],
  ["half gone in {30} days", valueOf(features, /HALF_LIFE_MS = (\d+) \* DAY/)],
  ["halved for each {2} that", valueOf("src/domain/ranking/rank.ts", "HALVED_BY")],
);

const growth = rows(
  ["| {24} MiB of one model in memory", cached / MIB],
  [
    "({98,000} of 256 dimensions, {32,000} of 768)",
    Math.floor(cached / 256 / 1_000) * 1_000,
    Math.floor(cached / 768 / 1_000) * 1_000,
  ],
  [
    "{48} MiB of vectors for all objects, {38} MiB once",
    shared / MIB,
    (shared - valueOf("src/platform/embeddings/mini/mini.ts", "MINI_BYTES")) / MIB,
  ],
);

const nextStep = `${object}/ingest/next-step.ts`;
const windows = `${object}/ingest/thread-window.ts`;
const runner = `${object}/ingest/ingest-runner.ts`;
const outcomes = `${object}/ingest/step-outcomes.ts`;
const ask = "src/platform/models/ask.ts";
const known = "src/domain/ingest/known-messages.ts";
const checks = "src/domain/ingest/checks";
const own = "src/domain/ingest/own-words.ts";
const prompt = "src/domain/ingest/prompts/extract-3.ts";
/** All waits between so many attempts. */
const pausesOf = (attempts: number): number =>
  Array.from({ length: attempts - 1 }, (_, i) => longestWait(i + 1)).reduce((sum, wait) => sum + wait);
const callSeconds = valueOf(ask, "CALL_MS") / SECOND;
const ingest = rows(
  ["| {1} to {1,000} messages", 1, limits.messagesPerAppend],
  ["more than {a} day ahead", valueOf("src/domain/schema/message-time.ts", "AHEAD_MS") / DAY],
  ["or after {25} seconds", valueOf("src/worker/use-cases/ingest.ts", "WAIT_MS") / SECOND],
  ["asked for in the last {40} messages", valueOf("src/domain/ingest/checks/check-fact.ts", "EARLIER")],
  [
    "has the results, for {seven} days after the end",
    valueOf(`${object}/ingest/ingest-store.ts`, "KEPT_MS") / DAY,
  ],
  [
    "the model failed {ten} times, with pauses of {20} minutes in all",
    valueOf(outcomes, "ATTEMPTS"),
    Math.floor(pausesOf(valueOf(outcomes, "ATTEMPTS")) / MINUTE),
  ],
  ["without an answer within {45} seconds", callSeconds],
  ["Cairn failed {ten} times", valueOf(outcomes, "ATTEMPTS")],
  ["at most {1} MiB as JSON", limits.extractedBytes / KIB / KIB],
  ["up to {600} characters of the user's", valueOf("src/domain/ingest/sessions.ts", "TEXT")],
  ["ends after {30} minutes without", valueOf(nextStep, "SESSION_GAP_MS") / MINUTE],
  ["one record for each of {21} languages", Object.keys(RECORDS).length],
  ["needs {half} of its words", valueOf(`${checks}/check-text.ts`, "SHARE")],
);
const ingestInternals = rows(
  ["among the last {1,000} messages of the thread", valueOf("src/domain/ingest/known-messages.ts", "IDS")],
  ["newest {20} threads", valueOf(`${object}/ingest/ingest-service.ts`, "COMPARED")],
  ["the last {5,000} messages", valueOf(known, "SEARCHED")],
  ["this takes {eight} messages or more", valueOf(known, "LONG_RUN")],
  [
    "up to {40} messages or {12,000} characters, with the {four} messages before",
    valueOf(windows, "MESSAGES"),
    valueOf(windows, "CHARACTERS"),
    valueOf(windows, "CONTEXT"),
  ],
  ["longer than {12,000} characters, and an earlier", valueOf(prompt, "CHARACTERS")],
  ["one longer than {2,000}, is cut", valueOf(prompt, "CONTEXT_CHARACTERS")],
  ["A call takes {45} seconds at most", callSeconds],
  ["{Four} threads of a user are extracted", valueOf(runner, "THREADS")],
  ["`max_completion_tokens` of {2,048}, reasoning", valueOf(ask, "MAX_TOKENS")],
  [
    "more than {200} messages or {12,000} characters becomes",
    valueOf(nextStep, "SESSION_MESSAGES"),
    valueOf(prompt, "CHARACTERS"),
  ],
  [
    "first {12,000} characters of a message, and in paragraphs of up to {1,200}",
    valueOf(own, "READ"),
    valueOf(own, "LONG_PARAGRAPH"),
  ],
  ["by its first and last {12,000}.", valueOf(own, "READ")],
);

const STATEMENTS = "`npm run eval -- --statements` measures it";
const STATUS = "is a status of HTTP";
export const pages: Record<string, { promised: readonly Promised[]; exempt: readonly Exempt[] }> = {
  "docs/reference/context.md": {
    promised: context,
    exempt: [
      { because: STATUS, says: "refused (403)" },
      { because: STATUS, says: "answers 304" },
      { because: "a test of small talk has one message for each", says: "20 other languages" },
    ],
  },
  "docs/reference/changes.md": {
    promised: changes,
    exempt: [{ because: STATUS, says: "from 200 to 299" }],
  },
  "docs/reference/recall.md": {
    promised: recall,
    exempt: [
      { because: "is a score without a search", says: "with a score of 0." },
      { because: "is an example", says: "is May 6" },
      { because: "is the least confidence", says: "has confidence 0." },
    ],
  },
  "docs/reference/limits.md": {
    promised: growth,
    exempt: [
      { because: "another test compares the table, and the platform has the rest", section: "# Limits" },
    ],
  },
  "docs/reference/ingest.md": {
    promised: ingest,
    exempt: [
      { because: "is where a list begins", says: "from 0 on" },
      { because: "is where a thread begins", says: "which begin at 1." },
      { because: STATUS, says: "The answer is 202 with" },
      { because: STATUS, says: "and then the id is 404" },
      { because: STATEMENTS, says: "three in four genuine ones pass, and one in ten poisoned ones" },
    ],
  },
  "docs/internals/ingest.md": {
    promised: ingestInternals,
    exempt: [
      {
        because: "`npm run eval -- --extract` measures it",
        section: "## What the patterns find, without a model",
      },
      { because: "is a step of the list", says: "behind those of step 2" },
      { because: "is a step of the list", says: "If step 2 found none" },
      { because: STATUS, says: "After a 400 or 422" },
      { because: STATEMENTS, section: "## What passes" },
    ],
  },
};
