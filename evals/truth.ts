// `npm run eval -- --truth FILE`: what people see first, the prompt's block, and silence where nothing is known, beside plain
// FTS5 over the same texts.
import { randomUUID } from "node:crypto";
import type { Cairn, RecallBody } from "../client/src/index.ts";
import { waitForVectors } from "./ask.ts";
import { progress } from "./demo/terminal.ts";
import { plainFts5 } from "./floor.ts";
import { textOf, type TruthCase, type TruthQuery, writtenIn } from "./truth-cases.ts";

const K = 10;
/** Tokens of both blocks of a context. */
const BUDGET = 800;
const CHARACTERS_PER_TOKEN = 4;

/** A hit, and what the case calls it: a text that was written twice has two names. */
type Shown = { ids: readonly string[]; text: string };
type Found = { hits: Shown[]; confidence?: number };
/** Where the queries of a case are asked. */
type Store = {
  recall: (query: string, answerable: "auto" | "off") => Promise<Found>;
  block: (query: string) => Promise<string>;
  /** The memories that are live; a plain search has no list. */
  live?: () => Promise<string[]>;
};

/** One query: each of its expectations, true if it holds. */
export type Judged = Found & {
  id: string;
  kind: string;
  query: string;
  needs?: string | undefined;
  checks: Partial<Record<Check, boolean>>;
};
export type Check = "first" | "within3" | "notAbove" | "kept" | "abstain" | "block" | "list";

export const isRight = ({ checks }: Pick<Judged, "checks">): boolean => Object.values(checks).every(Boolean);

/** Writes each case for a new user, and asks its queries. Two at a time: one waits for the other's answers. */
export async function judgeCairn(client: Cairn, cases: readonly TruthCase[]): Promise<Judged[]> {
  const judged: Judged[][] = [];
  const draw = progress("truth", cases.length);
  let done = 0;
  const left = cases.entries();
  const judgeLeft = async (): Promise<void> => {
    for (const [i, one] of left) {
      judged[i] = await judgeEach(one, await cairnStore(client, one));
      draw(++done);
    }
  };
  await Promise.all([judgeLeft(), judgeLeft()]);
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

async function judge(store: Store, wanted: TruthQuery): Promise<Found & Pick<Judged, "checks">> {
  const { query, first, within3, notAbove, abstain, block, list } = wanted;
  const checks: Judged["checks"] = {};
  let found: Found = { hits: [] };
  const answers = first ?? within3;
  if (answers || abstain) found = await store.recall(query, "auto");
  if (abstain) checks.abstain = found.hits.length === 0;
  if (answers) {
    checks.kept = found.hits.length > 0;
    // The order counts also where nothing was answered.
    if (!checks.kept) found = await store.recall(query, "off");
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
    const text = (await store.block(query)).toLowerCase();
    const has = (part: string) => text.includes(part.toLowerCase());
    checks.block = (block.has ?? []).every(has) && !(block.hasNot ?? []).some(has);
  }
  if (list && store.live) {
    const live = new Set(await store.live());
    checks.list =
      (list.live ?? []).every((id) => live.has(id)) && !(list.ended ?? []).some((id) => live.has(id));
  }
  return { ...found, checks };
}

async function cairnStore(client: Cairn, one: TruthCase): Promise<Store> {
  const user = `eval-${randomUUID()}`;
  const namesOf = await write(client, user, one);
  const { referenceDate, timeZone } = one;
  const at: Pick<RecallBody, "referenceDate" | "timeZone"> = {
    ...(referenceDate !== undefined && { referenceDate }),
    ...(timeZone !== undefined && { timeZone }),
  };
  return {
    recall: async (query, answerable) => {
      const { hits, confidence } = await client.recall(user, { query, k: K, answerable, ...at });
      return { hits: hits.map(({ id, text }) => ({ ids: namesOf(id, text), text })), confidence };
    },
    block: async (query) => {
      const { stable, recalled } = await client.context(user, { query, budget: BUDGET, ...at });
      return `${stable.text}\n${recalled.text}`;
    },
    live: async () => {
      const live: string[] = [];
      for await (const { id, text } of client.memories.all(user)) live.push(...namesOf(id, text));
      return live;
    },
  };
}

/** Answers what the case calls a document of this id and text. */
async function write(
  client: Cairn,
  user: string,
  one: TruthCase,
): Promise<(id: string, text: string) => readonly string[]> {
  const names = new Map<string, string[]>();
  const name = (key: string, id: string) => names.set(key, [...(names.get(key) ?? []), id]);
  const threads = new Map<string, string>();
  const written = writtenIn(one);
  for (let i = 0; i < written.length;) {
    const next = written[i];
    if (next?.thread !== undefined) {
      const thread = threads.get(next.thread) ?? (await client.threads.create(user)).id;
      threads.set(next.thread, thread);
      const { firstSeq } = await client.threads.append(
        thread,
        [next.message],
        next.at === undefined ? {} : { createdAt: next.at },
      );
      name(`${thread}:${firstSeq}`, next.id);
      i++;
      continue;
    }
    const upTo = written.findIndex(({ thread }, k) => k > i && thread !== undefined);
    const memories = written.slice(i, upTo === -1 ? written.length : upTo).slice(0, 100);
    const bodies = memories.flatMap((memory) => (memory.thread === undefined ? [memory.body] : []));
    const { items } = await client.memories.rememberMany(user, bodies);
    // A fact keeps its id when its object changes; its text tells which one is meant.
    for (const [k, { memory }] of items.entries()) name(`${memory.id} ${memory.text}`, memories[k]?.id ?? "");
    i += memories.length;
  }
  await waitForVectors(client, user);
  return (id, text) => names.get(id) ?? names.get(`${id} ${text}`) ?? [];
}

function fts5Store(one: TruthCase): Store {
  const documents = writtenIn(one).map((document) => ({ id: document.id, text: textOf(document) }));
  const search = plainFts5(documents);
  const textById = new Map(documents.map(({ id, text }) => [id, text]));
  const hitsOf = (query: string) =>
    search(query, K).map((id) => ({ ids: [id], text: textById.get(id) ?? "" }));
  return {
    recall: async (query) => ({ hits: hitsOf(query) }),
    block: async (query) => {
      const texts = hitsOf(query).map(({ text }) => text);
      return texts.join("\n").slice(0, BUDGET * CHARACTERS_PER_TOKEN);
    },
  };
}
