import type * as sdk from "@molroo-io/sdk";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Episode, molrooMemory, type MolrooMemoryOptions, type Reflection } from "../src/molroo.ts";
import { type Cairn, CairnError } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";
import { fromNow } from "../../../test/from-now.ts";
import { anyCharacter } from "../../../test/any-character.ts";

/** What the contract says, and the tests that show it. */

async function made(more: Partial<MolrooMemoryOptions> = {}) {
  const user = more.user ?? newUser();
  const memory: Cairn = more.memory ?? (await clientOf(user));
  return { user, memory, adapter: molrooMemory({ memory, user, ...more }) };
}

const DAY = Date.UTC(2026, 0, 1);
let episodes = 0;
const episode = (fields: Partial<Episode> = {}): Episode => ({
  id: `ep-${++episodes}`,
  timestamp: DAY + episodes,
  importance: 0.5,
  emotionSnapshot: { V: 0.1, A: 0.2, D: 0.3 },
  ...fields,
});
const reflection = (fields: Partial<Reflection> = {}): Reflection => ({
  id: "ref-1",
  timestamp: DAY,
  content: "I was short with her",
  trigger: "interaction",
  emotionSnapshot: { V: -0.2, A: 0, D: 0 },
  ...fields,
});
const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id);

it("is a MemoryAdapter of the SDK, to the compiler", async () => {
  const { adapter } = await made();
  const theirs: Required<sdk.MemoryAdapter> = adapter;
  const ours: Parameters<typeof adapter.saveEpisode>[0] = {} as sdk.Episode;
  const query: sdk.RecallQuery = {};
  const asked: Parameters<typeof adapter.recall>[0] = query;
  expect([theirs, ours, asked]).toHaveLength(3);
});

it("keeps an episode whole, in the fields that Cairn has for it", async () => {
  const { adapter, memory, user } = await made();
  const whole = episode({
    id: "ep-whole",
    type: "chat_message",
    content: "I moved to Lisbon",
    context: "Alice tells where she lives",
    sourceEntity: "alice",
    appraisal: {
      goal_relevance: 0.1,
      goal_congruence: -0.2,
      expectedness: 0.3,
      controllability: 0.4,
      agency: -0.5,
      norm_compatibility: 0.6,
      internal_standards: 0.7,
      adjustment_potential: 0.8,
      urgency: 0.9,
    },
    intensity: 0.75,
  });
  await adapter.saveEpisode(whole);
  expect(await adapter.recall({})).toEqual([whole]);
  const { items } = await memory.memories.list(user);
  expect(items).toMatchObject([
    {
      kind: "episode",
      text: "I moved to Lisbon\n\nAlice tells where she lives",
      scope: "molroo",
      externalId: "molroo/episodes/ep-whole",
      createdAt: whole.timestamp,
      type: "chat_message",
      context: "Alice tells where she lives",
      sourceEntity: "alice",
      importance: 0.5,
      intensity: 0.75,
      emotion: { valence: 0.1, arousal: 0.2, dominance: 0.3 },
      appraisal: whole.appraisal,
      metadata: { molroo: { content: 17 } },
    },
  ]);
});

it("recalls by every filter of a query, and by several at once", async () => {
  const { adapter } = await made();
  const quiet = episode({
    sourceEntity: "bob",
    type: "event",
    importance: 0.2,
    context: "The Harbour at night",
  });
  const glad = episode({
    sourceEntity: "alice",
    type: "chat_message",
    importance: 0.9,
    context: "harbour tour",
    emotionSnapshot: { V: 0.9, A: 0, D: 0 },
  });
  const sad = episode({ sourceEntity: "alice", importance: 0.6, emotionSnapshot: { V: -0.9, A: 0, D: 0 } });
  for (const one of [quiet, glad, sad]) await adapter.saveEpisode(one);
  const found = async (query: Parameters<typeof adapter.recall>[0]) => ids(await adapter.recall(query));
  expect(await found({})).toEqual([sad.id, glad.id, quiet.id]);
  expect(await found({ sourceEntity: "alice" })).toEqual([sad.id, glad.id]);
  expect(await found({ sourceEntity: "Alice" })).toEqual([]);
  expect(await found({ context: "hARBOUR" })).toEqual([glad.id, quiet.id]);
  expect(await found({ minImportance: 0.6 })).toEqual([sad.id, glad.id]);
  expect(await found({ timeRange: [glad.timestamp, glad.timestamp] })).toEqual([glad.id]);
  expect(await found({ type: "event" })).toEqual([quiet.id]);
  expect(await found({ type: ["event", "chat_message"] })).toEqual([glad.id, quiet.id]);
  expect(await found({ type: [] })).toEqual([]);
  expect(await found({ valenceRange: [0, 1] })).toEqual([glad.id, quiet.id]);
  expect(await found({ limit: 2 })).toEqual([sad.id, glad.id]);
  expect(await found({ limit: 0 })).toHaveLength(3);
  expect(await found({ timeRange: [-Infinity, Infinity], valenceRange: [-Infinity, Infinity] })).toHaveLength(
    3,
  );
  expect(await found({ sourceEntity: "alice", context: "harbour", minImportance: 0.5, limit: 1 })).toEqual([
    glad.id,
  ]);
});

it("recalls the newest first, whatever the order of saving", async () => {
  const { adapter } = await made();
  const ahead = fromNow(3_600_000);
  for (const timestamp of [DAY, DAY + 5, ahead, DAY - 5]) await adapter.saveEpisode(episode({ timestamp }));
  const found = await adapter.recall({});
  expect(found.map(({ timestamp }) => timestamp)).toEqual([ahead, DAY + 5, DAY, DAY - 5]);
});

it("takes both ends of a range in", async () => {
  const { adapter } = await made();
  for (const [timestamp, V] of [
    [1000, -0.5],
    [2000, 0],
    [3000, 0.5],
  ] as const)
    await adapter.saveEpisode(episode({ timestamp, emotionSnapshot: { V, A: 0, D: 0 } }));
  const times = async (query: Parameters<typeof adapter.recall>[0]) =>
    (await adapter.recall(query)).map(({ timestamp }) => timestamp);
  expect(await times({ timeRange: [1000, 2000] })).toEqual([2000, 1000]);
  expect(await times({ timeRange: [1000.5, 3000] })).toEqual([3000, 2000]);
  expect(await times({ valenceRange: [0, 0.5] })).toEqual([3000, 2000]);
  expect(await times({ minImportance: 0.5 })).toHaveLength(3);
});

it("gives what a model in memory gives, for any query", async () => {
  const { adapter } = await made();
  const some = Array.from({ length: 24 }, (_, i) =>
    episode({
      // No two at one time: their order would be nobody's.
      timestamp: DAY + ((i * 7) % 24) * 1000,
      importance: (i % 5) / 4,
      emotionSnapshot: { V: ((i * 3) % 9) / 4 - 1, A: 0, D: 0 },
      ...(i % 3 > 0 && { sourceEntity: i % 3 === 1 ? "alice" : "" }),
      ...(i % 4 > 0 && { type: ["event", "chat_message", "x".repeat(2000)][i % 3] ?? "" }),
      ...(i % 2 > 0 && { context: i % 3 === 1 ? "the Sea" : "a sea\0side \ud800" }),
    }),
  );
  await Promise.all(some.map((one) => adapter.saveEpisode(one)));
  const bounds = (min: number, max: number): fc.Arbitrary<[number, number]> =>
    fc.tuple(fc.double({ min, max, noNaN: true }), fc.double({ min, max, noNaN: true }));
  const query = fc.record(
    {
      sourceEntity: fc.constantFrom("alice", "bob", ""),
      context: fc.constantFrom("sea", "SEA", "side \ud800", "a", "nowhere", "\0", "y".repeat(2000)),
      limit: fc.nat(30),
      minImportance: fc.double({ min: -1, max: 2, noNaN: true }),
      timeRange: bounds(DAY - 1000, DAY + 25_000),
      valenceRange: bounds(-2, 2),
      type: fc.oneof(
        fc.constantFrom("event", "", "x".repeat(2000)),
        fc.subarray(["event", "chat_message", "x".repeat(2000), ""]),
      ),
    },
    { requiredKeys: [] },
  );
  const lower = (text = "") => text.toLowerCase();
  await fc.assert(
    fc.asyncProperty(query, async (asked) => {
      const { sourceEntity, context, limit = 0, minImportance = -1, timeRange, valenceRange, type } = asked;
      const expected = some
        .filter((one) => !sourceEntity || one.sourceEntity === sourceEntity)
        .filter((one) => !context || lower(one.context).includes(lower(context)))
        .filter((one) => one.importance >= minImportance)
        .filter(({ timestamp: t }) => !timeRange || (t >= timeRange[0] && t <= timeRange[1]))
        .filter(
          ({ emotionSnapshot: { V } }) => !valenceRange || (V >= valenceRange[0] && V <= valenceRange[1]),
        )
        .filter((one) => !type || (one.type && [type].flat().includes(one.type)))
        .toSorted((a, b) => b.timestamp - a.timestamp)
        .slice(0, limit === 0 ? undefined : limit);
      expect(await adapter.recall(asked)).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

it("gives back any episode and any reflection as it was saved", async () => {
  const { adapter } = await made();
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 30 }),
    fc.constantFrom(" ", "\0", "\ud800", "👩‍👧".repeat(9000), "a".repeat(40_000)),
  );
  const number = fc.double({ min: -3, max: 3, noNaN: true }).map((one) => one + 0);
  const vad = fc.record({ V: number, A: number, D: number });
  const appraisal = fc.record({
    goal_relevance: number,
    goal_congruence: number,
    expectedness: number,
    controllability: number,
    agency: number,
    norm_compatibility: number,
    internal_standards: number,
    adjustment_potential: number,
    urgency: number,
  });
  const time = fc.integer({ min: 0, max: 4e12 });
  const anyEpisode = fc.record(
    {
      id: text,
      timestamp: time,
      importance: number,
      emotionSnapshot: vad,
      type: text,
      content: text,
      context: text,
      sourceEntity: text,
      intensity: number,
      appraisal,
      // What a newer engine may add.
      more: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ["id", "timestamp", "importance", "emotionSnapshot"] },
  );
  const anyReflection = fc.record(
    { id: text, timestamp: time, sourceEntity: text, content: text, trigger: text, emotionSnapshot: vad },
    { requiredKeys: ["id", "timestamp", "content", "trigger", "emotionSnapshot"] },
  );
  const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  await fc.assert(
    fc.asyncProperty(anyEpisode, anyReflection, async (one, thought) => {
      await adapter.saveEpisode(one);
      expect(await adapter.getByIds([one.id])).toEqual([asJson(one)]);
      await adapter.saveReflection(thought);
      expect(await adapter.getReflections()).toContainEqual(asJson(thought));
    }),
    { numRuns: 25 },
  );
});

it("keeps an episode that no memory has room for whole, finds it by any word of its context, and forgets all of it", async () => {
  const { adapter, memory, user } = await made();
  const long = episode({
    id: "long",
    content: "The whole story. ".repeat(60_000),
    context: `${"x".repeat(33_000)} the needle`,
    sourceEntity: "alice",
  });
  await adapter.saveEpisode(long);
  await adapter.saveEpisode(episode({ context: "no such thing", sourceEntity: "alice" }));
  expect(await adapter.recall({ context: "NEEDLE", sourceEntity: "alice", limit: 1 })).toEqual([long]);
  expect(await adapter.semanticRecall("the whole story")).toContainEqual(long);
  const kept = async () => (await memory.kv.list(user, { prefix: "molroo/" })).items.length;
  expect(await kept()).toBe(1);
  // Another reader sees the beginning.
  const { items } = await memory.memories.list(user, { externalId: ["molroo/episodes/long"] });
  expect(items[0]?.text.slice(0, 16)).toBe("The whole story.");

  await adapter.forget("long");
  expect(await adapter.getByIds(["long"])).toEqual([]);
  expect(await kept()).toBe(0);
  await adapter.forget("long");
});

it("replaces an episode that is saved again, also when two workers do so at once", async () => {
  const { adapter } = await made();
  await adapter.saveEpisode(episode({ id: "same", context: "first", timestamp: DAY + 99, intensity: 1 }));
  const second = episode({ id: "same", context: "second", timestamp: DAY - 99 });
  await adapter.saveEpisode(second);
  expect(await adapter.recall({})).toEqual([second]);
  const both = ["one", "two"].map((context) =>
    episode({ id: "same", content: context.repeat(20_000), context }),
  );
  await Promise.all(both.map((one) => adapter.saveEpisode(one)));
  const found = await adapter.recall({});
  expect(found).toHaveLength(1);
  expect(both).toContainEqual(found[0]);
});

it("gives reflections newest first, of one entity or of all", async () => {
  const { adapter } = await made();
  const sera = reflection({ id: "ref-2", timestamp: DAY + 2, sourceEntity: "sera" });
  const mina = reflection({ id: "ref-3", timestamp: DAY + 3, sourceEntity: "mina" });
  const nobody = reflection({ id: "ref-1", timestamp: DAY + 1 });
  for (const one of [sera, mina, nobody]) await adapter.saveReflection(one);
  expect(await adapter.getReflections()).toEqual([mina, sera, nobody]);
  expect(await adapter.getReflections("sera")).toEqual([sera]);
  expect(await adapter.recall({})).toEqual([]);
});

it("keeps two reflections of one id that say something else", async () => {
  const { adapter } = await made();
  const [one, other] = [reflection({ content: "one" }), reflection({ content: "other" })];
  await Promise.all([one, other, one].map((each) => adapter.saveReflection(each)));
  const found = await adapter.getReflections();
  expect(found).toHaveLength(2);
  expect(found).toEqual(expect.arrayContaining([one, other]));
});

it("follows the pages of a long list to its end", async () => {
  const { adapter, memory, user } = await made();
  // As the API stores them, in few calls.
  for (let from = 0; from < 1500; from += 500)
    await memory.memories.rememberMany(
      user,
      Array.from({ length: 500 }, (_, i) => ({
        kind: "episode" as const,
        scope: "molroo",
        text: `${from + i}`,
        createdAt: DAY + from + i,
      })),
    );
  const found = await adapter.recall({});
  expect(found).toHaveLength(1500);
  expect(found[0]).toMatchObject({
    context: "1499",
    content: "1499",
    importance: 0,
    emotionSnapshot: { V: 0, A: 0, D: 0 },
  });
  expect(new Set(ids(found)).size).toBe(1500);
});

it("recalls what was just saved, by filter and by meaning", async () => {
  const { adapter } = await made();
  const one = episode({ content: "My sister plays the cello in Porto", context: "Alice about her family" });
  await adapter.saveEpisode(one);
  expect(await adapter.recall({ limit: 1 })).toEqual([one]);
  expect(await adapter.semanticRecall("who plays an instrument?")).toEqual([one]);
});

it("recalls by meaning within topK, minScore and minImportance", async () => {
  const { adapter } = await made();
  const cello = episode({ context: "She plays the cello in an orchestra", importance: 0.9 });
  const violin = episode({ context: "He plays the violin at home", importance: 0.1 });
  const pasta = episode({ context: "They cooked pasta with basil", importance: 0.5 });
  for (const one of [cello, violin, pasta]) await adapter.saveEpisode(one);
  const asked = "music that is played on the cello";
  expect(ids(await adapter.semanticRecall(asked))[0]).toBe(cello.id);
  expect(await adapter.semanticRecall(asked, { topK: 1 })).toEqual([cello]);
  expect(ids(await adapter.semanticRecall(asked, { minImportance: 0.5 }))).not.toContain(violin.id);
  expect(await adapter.semanticRecall(asked, { minScore: 1.1 })).toEqual([]);
  expect(await adapter.semanticRecall(asked, { topK: 0 })).toEqual([]);
  // Nothing to search by: the newest.
  expect(ids(await adapter.semanticRecall("", { topK: 2 }))).toEqual([pasta.id, violin.id]);
  expect(await adapter.semanticRecall("x ".repeat(20_000), { topK: 500 })).toHaveLength(3);
});

it("gets episodes by their ids, in that order, each once", async () => {
  const { adapter } = await made();
  const some = Array.from({ length: 120 }, (_, i) => episode({ id: `${"long/%ü".repeat(12)}${i}` }));
  await Promise.all(some.map((one) => adapter.saveEpisode(one)));
  const wanted = [...some].toReversed();
  expect(await adapter.getByIds([...ids(wanted), "unknown", some[0]?.id ?? ""])).toEqual(wanted);
  expect(await adapter.getByIds([])).toEqual([]);
});

it("shows one user nothing of another, nor one scope of another", async () => {
  const { adapter, memory, user } = await made();
  await adapter.saveEpisode(episode({ id: "same", context: "of Sera" }));
  const mina = molrooMemory({ memory, user, scope: "mina/1" });
  await mina.saveEpisode(episode({ id: "same", context: "of Mina" }));
  expect((await adapter.getByIds(["same"]))[0]?.context).toBe("of Sera");
  expect((await mina.semanticRecall("of whom")).map(({ context }) => context)).toEqual(["of Mina"]);
  expect(await mina.getReflections()).toEqual([]);

  const { adapter: other } = await made();
  expect(await other.recall({})).toEqual([]);
  const errors: unknown[] = [];
  const stranger = molrooMemory({ memory, user: newUser(), onError: (error) => errors.push(error) });
  await expect(stranger.recall({})).rejects.toBeInstanceOf(CairnError);
  await expect(stranger.saveEpisode(episode())).rejects.toBeInstanceOf(CairnError);
  expect(errors).toHaveLength(2);
});

it("hands each save to waitUntil, and not what it reads", async () => {
  const waited: Promise<unknown>[] = [];
  const { adapter } = await made({ waitUntil: (promise) => waited.push(promise) });
  void adapter.saveEpisode(episode());
  void adapter.saveReflection(reflection());
  expect(waited).toHaveLength(2);
  await Promise.all(waited);
  expect(await adapter.recall({})).toHaveLength(1);
  expect(await adapter.getReflections()).toHaveLength(1);
  expect(waited).toHaveLength(2);
});

it("hands each save to the client's own waitUntil, where it has no other", async () => {
  const user = newUser();
  const waited: Promise<unknown>[] = [];
  const memory = await clientOf(user, { waitUntil: (promise) => waited.push(promise) });
  void molrooMemory({ memory, user }).saveEpisode(episode());
  expect(waited).toHaveLength(1);
  await Promise.all(waited);
  expect((await memory.memories.list(user)).items).toHaveLength(1);
});

it("tells of every call that fails, with what it was to save, and rejects; what waits for it does not", async () => {
  const user = newUser();
  const down = () =>
    Response.json({ error: { code: "storage_unavailable", message: "down" } }, { status: 503 });
  const told: unknown[] = [];
  const waited: Promise<unknown>[] = [];
  const memory = await clientOf(user, {
    fetch: down,
    retry: false,
    onLaterError: (error) => told.push(error),
  });
  const one = episode();
  const adapter = molrooMemory({
    memory,
    user,
    onError: (error, unsaved) => told.push([error, unsaved]),
    waitUntil: (promise) => waited.push(promise),
  });
  const failed = { code: "storage_unavailable", status: 503 };
  await expect(adapter.saveEpisode(one)).rejects.toMatchObject(failed);
  await expect(adapter.semanticRecall("anything")).rejects.toMatchObject(failed);
  await Promise.all(waited);
  expect(told).toEqual([
    [expect.objectContaining(failed), one],
    [expect.objectContaining(failed), undefined],
  ]);
  await expect(molrooMemory({ memory, user }).getReflections()).rejects.toMatchObject(failed);
  await new Promise((resolve) => setTimeout(resolve));
  expect(told).toHaveLength(3);
});

it("sends a save again that a busy server refused, and saves it once", async () => {
  const user = newUser();
  let calls = 0;
  const flaky = (request: Request) =>
    ++calls % 2 === 1 ? new Response(null, { status: 429 }) : fetch(request);
  const { adapter } = await made({ user, memory: await clientOf(user, { fetch: flaky }) });
  const one = episode();
  await adapter.saveEpisode(one);
  expect(await adapter.recall({})).toEqual([one]);
});
