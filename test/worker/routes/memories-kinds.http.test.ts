// Episodes, procedures and reflections; which fields go with which kind, and their bounds.
import { describe, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import {
  forgetWhere,
  get,
  history,
  list,
  listTexts,
  patch,
  recall,
  recallTexts,
  remember,
  remembered,
} from "../../memory-calls.ts";

const appraisal = {
  goal_relevance: 0.9,
  goal_congruence: -0.4,
  expectedness: 0,
  controllability: 1,
  agency: -1,
  norm_compatibility: 0.1,
  internal_standards: 0.2,
  adjustment_potential: 0.3,
  urgency: 0.4,
};
const emotion = { valence: -0.25, arousal: 0.5, dominance: 1 };
const episode = {
  kind: "episode",
  text: "We argued about the boat",
  scope: "/home/project",
  externalId: "ep-1",
  type: "conflict",
  sourceEntity: "bob",
  context: "harbour",
  appraisal,
  emotion,
  intensity: 0.7,
  importance: 0.8,
  tags: ["boat"],
  metadata: { projectRoot: "/home/project", cwd: "/home" },
  createdAt: 1_780_000_000_000,
};
const reflection = {
  kind: "reflection",
  text: "Boats make us quarrel",
  trigger: "We argued about the boat",
  sourceEntity: "bob",
  emotion,
};
const procedure = { kind: "procedure", title: "deploy-foo", text: "Run make, then push.", tags: ["ops"] };

it("an episode keeps all that it is given, in get, list and recall", async () => {
  const user = newUser();
  const made = await remembered(user, episode);
  expect(made).toMatchObject(episode);
  expect((await get(user, made.id)).body).toEqual(made);
  const { indexing: _indexing, ...stored } = made;
  expect(await list(user)).toEqual([stored]);
  const [hit] = await recall(user, { query: "quarrel at the boat", kinds: ["episode"] });
  const { userId: _user, status: _status, ...shown } = stored;
  expect(hit).toMatchObject(shown);
});

it("an episode is replaced by its id, and found by what molroo's recall asks for", async () => {
  const user = newUser();
  await remembered(user, episode);
  await remembered(user, {
    ...episode,
    text: "We made up",
    type: "joy",
    emotion: { ...emotion, valence: 0.9 },
  });
  await remembered(user, { ...episode, externalId: "ep-2", importance: 0.1, createdAt: 1_780_000_100_000 });
  expect(await listTexts(user)).toEqual(["We argued about the boat", "We made up"]);
  const query = (more: string) => `kind=episode&sourceEntity=bob&context=harbour&${more}`;
  expect(await listTexts(user, query("importanceMin=0.8"))).toEqual(["We made up"]);
  expect(await listTexts(user, query("type=joy&type=fear"))).toEqual(["We made up"]);
  expect(await listTexts(user, query("valenceMin=-0.25&valenceMax=-0.25"))).toEqual([
    "We argued about the boat",
  ]);
  expect(await listTexts(user, query("createdAtMin=1780000000000&createdAtMax=1780000000000"))).toEqual([
    "We made up",
  ]);
  expect((await list(user, query("")))[0]?.externalId).toBe("ep-2");
});

it("the same episode again makes no new version, in whatever order its fields were set", async () => {
  const user = newUser();
  const { id } = await remembered(user, { kind: "episode", text: "We argued", externalId: "ep-1" });
  await patch(user, id, { emotion, intensity: 0.5 });
  await patch(user, id, { type: "conflict", context: "harbour" });
  expect(await history(user, id)).toHaveLength(3);
  const same = { type: "conflict", emotion, context: "harbour", intensity: 0.5 };
  await remembered(user, { kind: "episode", text: "We argued", externalId: "ep-1", ...same });
  await patch(user, id, same);
  expect(await history(user, id)).toHaveLength(3);
});

it("a procedure is one by its exact title within its scope: a new body replaces the old one", async () => {
  const owner = `shared:${newUser()}`;
  const { id } = await remembered(owner, procedure);
  const again = await remember(owner, { ...procedure, text: "Push; the rest is automatic.", tags: ["ci"] });
  expect(again).toMatchObject({ status: 200, body: { id, tags: ["ci"] } });
  expect(await history(owner, id)).toHaveLength(2);
  for (const other of [{ title: "Deploy-foo" }, { title: "deploy-foo ", scope: "x" }])
    expect((await remembered(owner, { ...procedure, ...other })).id).not.toBe(id);
  expect(await listTexts(owner, "title=deploy-foo")).toEqual(["Push; the rest is automatic."]);
  const [hit] = await recall(owner, { query: "deploy foo", k: 1, kinds: ["procedure"] });
  expect(hit).toMatchObject({ kind: "procedure", title: expect.stringMatching(/deploy-foo/i) });
  expect((await forgetWhere(owner, { title: "deploy-foo" })).body).toEqual({ count: 1, ids: [id] });
});

it("a reflection keeps its trigger and emotion, and is listed newest first by its source", async () => {
  const user = newUser();
  const made = await remembered(user, reflection);
  expect(made).toMatchObject(reflection);
  await remembered(user, { ...reflection, text: "Later thought" });
  await remembered(user, { ...reflection, text: "Of another", sourceEntity: "ann" });
  const found = await list(user, "kind=reflection&sourceEntity=bob");
  expect(found.map(({ text }) => text)).toEqual(["Later thought", "Boats make us quarrel"]);
});

it("metadata and appraisals come back as they went in, whatever their keys", async () => {
  const user = newUser();
  const raw =
    '{"__proto__":{"x":1},"constructor":2,"":3,"a.b":4,"é\\u0000":null,"n":1e300,"deep":[{"a":[]}]}';
  const path = `/v1/users/${user}/memories`;
  const made = await call(path, { raw: `{"text":"x","metadata":${raw}}` });
  expect(made.status).toBe(201);
  const read = await call(`${path}/${made.body.id}`);
  for (const { body } of [made, read])
    expect(JSON.stringify(body.metadata)).toBe(JSON.stringify(JSON.parse(raw)));
  const merged = await call(path, { raw: '{"text":"x","metadata":{"__proto__":5,"more":6}}' });
  expect(Object.entries(merged.body.metadata)).toContainEqual(["__proto__", 5]);
  expect(merged.body.metadata).toMatchObject({ constructor: 2, more: 6 });
  const unknown = await call(path, { raw: '{"kind":"episode","text":"y","appraisal":{"__proto__":1}}' });
  expect(unknown.status).toBe(400);
  const own = await call(path, { raw: '{"text":"y","__proto__":1}' });
  expect(own.status).toBe(400);
});

it("the longest of everything comes back whole", async () => {
  const user = newUser();
  const wide = "é".repeat(16_384);
  const name = "n".repeat(1024);
  const full = { ...episode, text: wide, context: wide, scope: name, type: name, sourceEntity: name };
  const named = { ...full, externalId: name };
  expect(await remembered(user, named)).toMatchObject(named);
  const fact = { text: wide, subject: name, predicate: name, object: wide };
  const made = await remembered(user, fact);
  expect(made).toMatchObject(fact);
  expect((await get(user, made.id)).body).toEqual(made);
  const thought = { ...reflection, text: wide, trigger: wide };
  expect(await remembered(user, thought)).toMatchObject(thought);
  expect(await recallTexts(user, { query: name, k: 1 })).toHaveLength(1);
});

describe("refuses, and names the field:", () => {
  it.each([
    [{ ...procedure, title: undefined }, "body.title"],
    [{ text: "x", title: "t" }, "body.title"],
    [{ kind: "episode", text: "x", subject: "s" }, "body.subject"],
    [{ kind: "episode", text: "x", key: "k" }, "body.key"],
    [{ kind: "episode", text: "x", trigger: "t" }, "body.trigger"],
    [{ text: "x", context: "c" }, "body.context"],
    [{ text: "x", appraisal: {} }, "body.appraisal"],
    [{ text: "x", emotion }, "body.emotion"],
    [{ ...procedure, intensity: 1 }, "body.intensity"],
    [{ ...reflection, type: "t" }, "body.type"],
    [{ subject: "s", predicate: "p" }, "body.object"],
    [{ text: "x", object: "o" }, "body.object"],
    [{ text: "x", subject: "s", object: "o" }, "body.object"],
    [{}, "body.text"],
    [{ text: "\n\t " }, "body.text"],
    [{ text: "a\0b" }, "body.text"],
    [{ text: "\ud800" }, "body.text"],
    [{ subject: " ", predicate: "p", object: "o" }, "body.subject"],
    [{ subject: "s", predicate: "\t", object: "o" }, "body.predicate"],
    [{ text: "x", key: "\u3000" }, "body.key"],
    [{ ...procedure, title: " " }, "body.title"],
    [{ ...episode, appraisal: { joy: 1 } }, "body.appraisal.joy"],
    [{ ...episode, appraisal: { urgency: 1.5 } }, "body.appraisal.urgency"],
    [{ ...episode, emotion: { valence: 1 } }, "body.emotion.arousal"],
    [{ ...episode, emotion: { ...emotion, valence: -1.01 } }, "body.emotion.valence"],
    [{ ...episode, intensity: 1.01 }, "body.intensity"],
    [{ ...episode, importance: -0.01 }, "body.importance"],
    [{ text: "x", score: Number.NaN }, "body.score"],
    [{ text: "x", expiresAt: 1.5 }, "body.expiresAt"],
    [{ text: "x", createdAt: 8.64e15 + 1 }, "body.createdAt"],
    [{ text: "x", source: { thread: "t", page: 1 } }, "body.source.page"],
    [{ text: "x", dedupe: "fuzzy" }, "body.dedupe"],
    [{ text: "x", kind: "opinion" }, "body.kind"],
    [{ text: "x", id: "mine" }, "body.id"],
  ])("%j", async (memory, path) => {
    const { status, body } = await remember(newUser(), memory);
    expect(status).toBe(400);
    expect(body.error.code).toBe("invalid_request");
    expect(body.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  it.each([
    [{ text: "x", subject: "n".repeat(1025) }, "limit_exceeded", "body.subject"],
    [{ text: "x", scope: "é".repeat(513) }, "limit_exceeded", "body.scope"],
    [{ ...episode, context: "é".repeat(16_385) }, "limit_exceeded", "body.context"],
    [{ ...reflection, trigger: "x".repeat(32_769) }, "limit_exceeded", "body.trigger"],
    [{ subject: "s", predicate: "p", object: "x".repeat(32_769) }, "limit_exceeded", "body.object"],
  ])("what is too long (%#)", async (memory, code, path) => {
    const { body } = await remember(newUser(), memory);
    expect(body.error).toMatchObject({ code, details: [{ path }] });
  });
});
