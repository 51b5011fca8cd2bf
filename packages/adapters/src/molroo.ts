import type { Cairn, Memory } from "../../client/src/index.ts";
import { requireUser } from "./options/require-options.ts";
import type { OptionNames } from "../../client/src/known-options.ts";
import { limited, limitMethods, type TimeLimit } from "./limits/time-limit.ts";
import { episodeBody, episodeOf } from "./molroo/episode.ts";
import { askable, within } from "./molroo/fields.ts";
import { matches, newestFirst, questionsOf, roomy } from "./molroo/query.ts";
import { externalIdOf, type RecordKind } from "./molroo/record.ts";
import { reflectionBody, reflectionOf } from "./molroo/reflection.ts";
import type {
  Episode,
  MemoryAdapter,
  RecallQuery,
  Reflection,
  SemanticRecallOptions,
} from "./molroo/types.ts";
import { LargeRecords } from "./molroo/large-records.ts";

export type {
  AppraisalVector,
  Episode,
  MemoryAdapter,
  RecallQuery,
  Reflection,
  SemanticRecallOptions,
  VAD,
} from "./molroo/types.ts";

export type MolrooMemoryOptions = TimeLimit & {
  memory: Cairn;
  /** The user whose memory it is. The interface names no user, so each adapter serves one. */
  user: string;
  /** Separates these memories from the user's others: one scope for each persona, to 256 bytes; `molroo` unless set. */
  scope?: string;
  /** Keeps a Worker alive during a save, which the SDK does not await. The client's own unless set. */
  waitUntil?: (promise: Promise<unknown>) => void;
  /** Receives each failure and its unsaved record, both of which the SDK drops. The client's `onLaterError` unless set. */
  onError?: (error: unknown, unsaved?: Episode | Reflection) => void;
};

const OPTIONS: OptionNames<MolrooMemoryOptions> = {
  memory: true,
  user: true,
  scope: true,
  waitUntil: true,
  onError: true,
  timeoutMs: true,
};

/** The SDK's `MemoryAdapter` with all optional methods, and `forget`. */
export type MolrooMemory = Required<MemoryAdapter> & {
  /** Deletes an episode with all its data. No error if there is none. */
  forget(id: string): Promise<void>;
};

const METHODS = [
  "saveEpisode",
  "recall",
  "semanticRecall",
  "saveReflection",
  "getReflections",
  "getByIds",
  "forget",
] as const;

/** The most hits of one search. */
const MOST_HITS = 100;
const TOP_K = 5;

/**
 * The memory of one user for a persona of `@molroo-io/sdk`. A save is durable once its promise resolves. Calls reject
 * with `CairnError`.
 *
 * @example
 * const sera = await molroo.connectPersona("sera", { llm, memory: molrooMemory({ memory, user: "alice" }) });
 */
export function molrooMemory(options: MolrooMemoryOptions): MolrooMemory {
  requireUser("molrooMemory", options, OPTIONS);
  const copy = (memory: Cairn) => memoryOf(memory, options);
  return limitMethods(copy(limited(options.memory, options)), METHODS, options, copy);
}

function memoryOf(memory: Cairn, options: MolrooMemoryOptions): MolrooMemory {
  const { user, scope = "molroo", waitUntil, onError } = options;
  const whole = new LargeRecords(memory, user);
  const tell =
    onError ??
    ((error: unknown) => {
      throw error;
    });
  /** Returns the call's outcome, which the SDK may drop, and reports a failure. */
  const told = <T>(call: Promise<T>, unsaved?: Episode | Reflection): Promise<T> => {
    const done = call.then(
      () => undefined,
      // The client's `onLaterError` receives errors without a listener, and errors that `tell` throws.
      (error: unknown) => memory.later(async () => tell(error, unsaved)),
    );
    if (unsaved === undefined) return call;
    if (waitUntil === undefined) memory.later(() => done);
    else waitUntil(done);
    return call;
  };

  const episodesIn = async (found: Parameters<typeof episodeOf>[0][]): Promise<Episode[]> =>
    Promise.all(found.map(async (one) => episodeOf(one, scope, await whole.of(one))));

  /** The matching episodes of one list, up to `most`, page by page. */
  async function listed(query: RecallQuery, list: Parameters<typeof memory.memories.all>[1], most: number) {
    const found: Episode[] = [];
    for await (const one of memory.memories.all(user, list)) {
      const [episode] = await episodesIn([one]);
      if (episode === undefined || !matches(episode, query)) continue;
      found.push(episode);
      if (found.length === most) break;
    }
    return found;
  }

  async function recall(query: RecallQuery): Promise<Episode[]> {
    const most = query.limit !== undefined && query.limit > 0 ? Math.ceil(query.limit) : Infinity;
    const lists = await questionsOf(query, { scope, most });
    const found = (await Promise.all(lists.map((list) => listed(query, list, most)))).flat();
    // Removes duplicates of episodes that two lists hold.
    const distinct = lists.length === 1 ? found : [...new Map(found.map((one) => [one.id, one])).values()];
    return newestFirst(distinct).slice(0, most);
  }

  async function semanticRecall(
    query: string,
    { topK = TOP_K, minScore = 0, minImportance = 0 }: SemanticRecallOptions = {},
  ): Promise<Episode[]> {
    if (topK < 1 || minScore > 1) return [];
    const k = Math.min(Math.ceil(topK), MOST_HITS);
    const asked = askable(query);
    // An empty query returns the newest, as in Cairn.
    if (asked === "") return minScore > 0 ? [] : recall({ limit: k, minImportance });
    const { hits } = await memory.recall(user, {
      query: asked,
      k,
      kinds: ["episode"],
      scope,
      minScore: Math.max(0, minScore),
      ...(minImportance > 0 && { filter: { importanceMin: within(minImportance, 0, 1) } }),
    });
    return (await episodesIn(hits)).filter((one) => minImportance <= 0 || one.importance >= minImportance);
  }

  async function byIds(ids: readonly string[]): Promise<Memory[]> {
    const wanted = await Promise.all([...new Set(ids)].map((id) => externalIdOf(scope, "episodes", id)));
    const found: Memory[] = [];
    for (const externalId of roomy(wanted))
      for await (const one of memory.memories.all(user, { kind: ["episode"], scope: [scope], externalId }))
        found.push(one);
    return found;
  }

  async function getByIds(ids: string[]): Promise<Episode[]> {
    const found = new Map((await episodesIn(await byIds(ids))).map((one) => [one.id, one]));
    return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
  }

  async function getReflections(sourceEntity?: string): Promise<Reflection[]> {
    const found: Reflection[] = [];
    const [list] = await questionsOf({ ...(sourceEntity && { sourceEntity }) }, { scope, most: Infinity });
    for await (const one of memory.memories.all(user, { ...list, kind: ["reflection"] })) {
      const reflection = reflectionOf(one, await whole.of(one));
      if (!sourceEntity || reflection.sourceEntity === sourceEntity) found.push(reflection);
    }
    return newestFirst(found);
  }

  async function save(kind: RecordKind, record: Episode | Reflection): Promise<void> {
    const body =
      kind === "episodes"
        ? await episodeBody(record as Episode, scope)
        : await reflectionBody(record as Reflection, scope);
    await memory.memories.remember(user, await whole.kept(body, record), { adapter: "molroo" });
  }

  async function forget(id: string): Promise<void> {
    for (const { id: memoryId } of await byIds([id])) await memory.memories.forget(user, memoryId);
    await whole.forget(await externalIdOf(scope, "episodes", id));
  }

  return {
    saveEpisode: (episode) => told(save("episodes", episode), episode),
    recall: (query) => told(recall(query)),
    semanticRecall: (query, how) => told(semanticRecall(query, how)),
    saveReflection: (reflection) => told(save("reflections", reflection), reflection),
    getReflections: (sourceEntity) => told(getReflections(sourceEntity)),
    getByIds: (ids) => told(getByIds(ids)),
    forget: (id) => told(forget(id)),
  };
}
