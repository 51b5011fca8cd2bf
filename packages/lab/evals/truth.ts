// `npm run eval -- --truth FILE`: what people see first, the prompt's block, and silence where nothing is known, beside plain
// FTS5 over the same texts.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cairn, RecallBody } from "#client/index.ts";
import { progress } from "./demo/terminal.ts";
import { plainFts5 } from "./floor.ts";
import { runsOf, textOf, type TruthCase, type TruthQuery, writtenIn } from "./truth-cases.ts";

const K = 10;
/** Tokens of both blocks of a context. */
const BUDGET = 800;
const CHARACTERS_PER_TOKEN = 4;
/** Cases that are judged at once. */
const AT_ONCE = 4;

/** A hit, and what the case calls it: a text that was written twice has two names. */
type Shown = { ids: readonly string[]; text: string };
/** `kept`: true if the hits are shown with this `answerable`. */
type Found = { hits: Shown[]; confidence?: number; kept: Record<Mode, boolean> };
type Mode = "auto" | "strict";
/** The text of both blocks, and the lines that were recalled. */
type Block = { text: string; lines: Shown[] };
/** Where the queries of a case are asked. */
type Store = {
  recall: (query: string) => Promise<Found>;
  block: (query: string) => Promise<Block>;
  /** The memories that are live; a plain search has no list. */
  live?: () => Promise<string[]>;
};

/** One query: each of its expectations, true if it holds. */
export type Judged = Omit<Found, "kept"> & {
  id: string;
  kind: string;
  query: string;
  needs?: string | undefined;
  checks: Partial<Record<Check, boolean>>;
  /** With `answerable: "strict"`: hits for a query with an answer, none for one that has to abstain. */
  strict: boolean;
  /** Lines of the recalled block that are no answer. */
  unrelated: number;
};
export type Check = "first" | "within3" | "notAbove" | "kept" | "abstain" | "block" | "list";

export const isRight = ({ checks }: Pick<Judged, "checks">): boolean => Object.values(checks).every(Boolean);

/** Writes each case for a new user, and asks its queries. Some at a time: one waits for the other's answers. */
export async function judgeCairn(client: Cairn, cases: readonly TruthCase[]): Promise<Judged[]> {
  const least = await strictThreshold(client);
  const judged: Judged[][] = [];
  const draw = progress("truth", cases.length);
  let done = 0;
  const left = cases.entries();
  const judgeLeft = async (): Promise<void> => {
    for (const [i, one] of left) {
      judged[i] = await judgeEach(one, await cairnStore(client, one, least));
      draw(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, judgeLeft));
  return judged.flat();
}

export async function judgeFts5(cases: readonly TruthCase[]): Promise<Judged[]> {
  const judged = await Promise.all(cases.map((one) => judgeEach(one, fts5Store(one))));
  return judged.flat();
}

async function judgeEach(one: TruthCase, store: Store): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const query of one.queries) {
    const { id, kind } = one;
    judged.push({
      id,
      kind,
      query: query.query,
      needs: query.needs ?? one.needs,
      ...(await judge(store, query)),
    });
  }
  return judged;
}

async function judge(
  store: Store,
  wanted: TruthQuery,
): Promise<Pick<Judged, "hits" | "confidence" | "checks" | "strict" | "unrelated">> {
  const { query, first, within3, notAbove, abstain, block, list } = wanted;
  const checks: Judged["checks"] = {};
  const answers = first || within3 ? [...(first ?? []), ...(within3 ?? [])] : undefined;
  const { kept, ...found } = await store.recall(query);
  const { text, lines } = await store.block(query);
  if (abstain) checks.abstain = !kept.auto;
  if (answers) {
    checks.kept = kept.auto;
    // The order counts also where nothing was answered.
    const placeOf = (id: string): number => {
      const place = found.hits.findIndex(({ ids }) => ids.includes(id));
      return place === -1 ? K : place;
    };
    if (first) checks.first = first.some((id) => placeOf(id) === 0);
    if (within3) checks.within3 = within3.every((id) => placeOf(id) < 3);
    const best = Math.min(...answers.map(placeOf));
    if (notAbove) checks.notAbove = notAbove.every((id) => placeOf(id) >= best);
  }
  if (block) {
    const has = (part: string) => text.toLowerCase().includes(part.toLowerCase());
    checks.block = (block.has ?? []).every(has) && !(block.hasNot ?? []).some(has);
  }
  if (list && store.live) {
    const live = new Set(await store.live());
    checks.list =
      (list.live ?? []).every((id) => live.has(id)) && !(list.ended ?? []).some((id) => live.has(id));
  }
  const isAnswer = ({ ids }: Shown): boolean => answers?.some((id) => ids.includes(id)) === true;
  return {
    ...found,
    checks,
    strict: kept.strict === (answers !== undefined),
    unrelated: lines.filter((line) => !isAnswer(line)).length,
  };
}

/** The confidence below which `answerable: "strict"` shows nothing. */
async function strictThreshold(client: Cairn): Promise<number> {
  const body = { query: "anything", answerable: "strict", explain: true } as const;
  const { threshold = 0 } = await client.recall(`eval-${randomUUID()}`, body);
  return threshold;
}

async function cairnStore(client: Cairn, one: TruthCase, least: number): Promise<Store> {
  const user = `eval-${randomUUID()}`;
  const namesOf = await write(client, user, one);
  const { referenceDate, timeZone } = one;
  const at: Pick<RecallBody, "referenceDate" | "timeZone"> = {
    ...(referenceDate !== undefined && { referenceDate }),
    ...(timeZone !== undefined && { timeZone }),
  };
  return {
    recall: async (query) => {
      const ask = () => client.recall(user, { query, k: K, answerable: "auto", ...at });
      let answer = await ask();
      // Asked again until everything is found by meaning too.
      while (answer.freshness.pending > 0) {
        await sleep(100);
        answer = await ask();
      }
      const { hits, nearest = hits, confidence } = answer;
      return {
        hits: nearest.map(({ id, text }) => ({ ids: namesOf(id, text), text })),
        confidence,
        kept: { auto: hits.length > 0, strict: hits.length > 0 && confidence >= least },
      };
    },
    block: async (query) => {
      const body = { query, budget: BUDGET, explain: true, ...at };
      const { stable, recalled, candidates = [] } = await client.context(user, body);
      const lines = candidates
        .filter(({ layer, why }) => layer === "recalled" && why === "fits")
        .map(({ id, text }) => ({ ids: namesOf(id, text), text }));
      return { text: `${stable.text}\n${recalled.text}`, lines };
    },
    live: async () => {
      const live: string[] = [];
      for await (const { id, text } of client.memories.all(user)) live.push(...namesOf(id, text));
      return live;
    },
  };
}

/** Answers what the case calls a document of this id and text. */
export async function write(
  client: Cairn,
  user: string,
  one: TruthCase,
): Promise<(id: string, text: string) => readonly string[]> {
  const names = new Map<string, string[]>();
  const name = (key: string, id: string) => names.set(key, [...(names.get(key) ?? []), id]);
  const began = one.threads.map(async ({ id }) => [id, (await client.threads.create(user)).id] as const);
  const threads = new Map(await Promise.all(began));
  for (const run of runsOf(writtenIn(one))) {
    const memories = run.flatMap((document) => (document.thread === undefined ? [document.body] : []));
    const messages = run.flatMap(({ at, ...document }) =>
      document.thread === undefined
        ? []
        : {
            op: "append" as const,
            threadId: threads.get(document.thread) ?? "",
            messages: [document.message],
            ...(at !== undefined && { createdAt: at }),
          },
    );
    const { items } =
      memories.length === 0 ? { items: [] } : await client.memories.rememberMany(user, memories);
    const { results } = messages.length === 0 ? { results: [] } : await client.kv.batch(user, messages);
    // A fact keeps its id when its object changes; its text tells which one is meant.
    const ids = [
      ...items.map(({ memory: { id, text } }) => `${id} ${text}`),
      ...results.map(({ threadId, firstSeq }) => `${threadId}:${firstSeq}`),
    ];
    for (const [i, id] of ids.entries()) name(id, run[i]?.id ?? "");
  }
  return (id, text) => names.get(id) ?? names.get(`${id} ${text}`) ?? [];
}

function fts5Store(one: TruthCase): Store {
  const documents = writtenIn(one).map((document) => ({ id: document.id, text: textOf(document) }));
  const search = plainFts5(documents);
  const textById = new Map(documents.map(({ id, text }) => [id, text]));
  const hitsOf = (query: string) =>
    search(query, K).map((id) => ({ ids: [id], text: textById.get(id) ?? "" }));
  return {
    recall: async (query) => {
      const hits = hitsOf(query);
      return { hits, kept: { auto: hits.length > 0, strict: hits.length > 0 } };
    },
    block: async (query) => {
      const lines = hitsOf(query);
      const text = lines.map((line) => line.text).join("\n");
      return { text: text.slice(0, BUDGET * CHARACTERS_PER_TOKEN), lines };
    },
  };
}
