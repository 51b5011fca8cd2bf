import { expect, it } from "vitest";
import type { Trust } from "../../../../src/domain/schema/provenance.ts";
import { call, newUser, tokenWith } from "../../../call.ts";
import { assistant, ingest, ingested, memoriesOf, messagesOf, readIngest, ring, user } from "./calls.ts";
import { clock } from "../../../doubles/control.ts";

const moved = [user("I have moved to Lisbon."), assistant("How do you like it?")];

it("stores a conversation once, however often it comes", async () => {
  const owner = newUser();
  const first = await ingest(owner, { messages: moved, sessionId: "monday" });
  expect(first.status).toBe(202);
  expect(first.body).toMatchObject({ stored: 2, known: 0, status: "done" });
  const memories = await memoriesOf(owner, "&status=active&status=quarantined");
  for (const body of [{ sessionId: "monday" }, { sessionId: "monday" }]) {
    const again = await ingest(owner, { messages: moved, ...body });
    expect(again.body).toMatchObject({
      stored: 0,
      known: 2,
      status: "done",
      threadId: first.body.threadId,
    });
  }
  expect(await messagesOf(first.body.threadId)).toEqual(["I have moved to Lisbon.", "How do you like it?"]);
  expect(await memoriesOf(owner, "&status=active&status=quarantined")).toEqual(memories);
});

it("stores what is new of a longer conversation", async () => {
  const owner = newUser();
  const { body: first } = await ingest(owner, { messages: moved });
  const { body: second } = await ingest(owner, { messages: [...moved, user("Very much.")] });
  expect(second).toMatchObject({ stored: 1, known: 2, threadId: first.threadId });
  const { body: other } = await ingest(owner, { messages: [moved[0], assistant("Congratulations!")] });
  expect(other).toMatchObject({ stored: 2, known: 0 });
  expect(other.threadId).not.toBe(first.threadId);
});

it("stores nothing of a call that is refused", async () => {
  const owner = newUser();
  const refused = async (body: object) => {
    const { status, body: answer } = await ingest(owner, body);
    return [status, answer.error.code, answer.error.details?.[0]?.path];
  };
  const source = { subject: "user", predicate: "lives in", object: "Lisbon" };
  expect(await refused({ messages: [{ content: "no role" }] })).toEqual([
    400,
    "invalid_request",
    "body.messages[0].role",
  ]);
  expect(await refused({ messages: moved, extract: ["wishes"] })).toEqual([
    400,
    "invalid_request",
    "body.extract[0]",
  ]);
  expect(await refused({ messages: moved, extracted: { facts: [{ ...source, sources: [] }] } })).toEqual([
    400,
    "invalid_request",
    "body.extracted.facts[0].sources",
  ]);
  expect(await refused({ messages: moved, extracted: { facts: [{ ...source, sources: [2] }] } })).toEqual([
    400,
    "invalid_request",
    "body.extracted.facts[0].sources[0]",
  ]);
  expect(await refused({ messages: Array.from({ length: 1001 }, () => moved[0]) })).toEqual([
    400,
    "limit_exceeded",
    "body.messages",
  ]);
  expect(await refused({})).toEqual([400, "invalid_request", "body.messages"]);
  expect(await refused({ threadId: "t", messages: moved })).toEqual([
    400,
    "invalid_request",
    "body.threadId",
  ]);
  expect(await refused({ messages: moved, createdAt: [1] })).toEqual([
    400,
    "invalid_request",
    "body.createdAt",
  ]);
  const threads = await call(`/v1/users/${owner}/threads`);
  expect(threads.body.items).toEqual([]);
  expect(await memoriesOf(owner, "&status=active&status=quarantined")).toEqual([]);
});

it("says what is wrong with a call that it refuses", async () => {
  const owner = newUser();
  const details = async (body: object) => {
    const { status, body: answer } = await ingest(owner, body);
    return [status, ...(answer.error.details ?? []).map(Object.values)];
  };
  const unit = "is more than a day ahead: the unit is milliseconds since the epoch";
  const seconds = "looks like seconds: the unit is milliseconds since the epoch";
  const shape = "must be a time in milliseconds since the epoch, or a list with the time of each message";
  const later = clock() + 2 * 86_400_000;
  const foreign = await call(`/v1/users/${newUser()}/threads`, { json: {} });
  const own = await call(`/v1/users/${owner}/threads`, { json: {} });
  await call(`/v1/threads/${own.body.id}`, { method: "DELETE" });
  const cases: [object, number, string, string][] = [
    [{}, 400, "body.messages", "is required, or `threadId` in its place"],
    [
      { threadId: "t", messages: moved },
      400,
      "body.threadId",
      "does not go with `messages`: send one of them",
    ],
    [{ messages: moved, extract: [] }, 400, "body.extract", "must not be empty"],
    [
      { messages: moved, extracted: {} },
      400,
      "body.extracted",
      "holds no list: set `facts`, `episodes` or `procedures`; an empty list says that your model found none",
    ],
    [{ messages: moved, createdAt: "yesterday" }, 400, "body.createdAt", shape],
    [{ messages: moved, createdAt: [1, "yesterday"] }, 400, "body.createdAt", shape],
    [{ messages: moved, createdAt: 1_732_500_000 }, 400, "body.createdAt", seconds],
    [{ messages: moved, createdAt: [later - 864e5 * 9, 1_732_500_000] }, 400, "body.createdAt[1]", seconds],
    [{ messages: moved, createdAt: later }, 400, "body.createdAt", unit],
    [{ messages: moved, createdAt: [1, later] }, 400, "body.createdAt[1]", unit],
    [{ threadId: foreign.body.id }, 404, "body.threadId", "is no thread of this user"],
    [{ threadId: own.body.id }, 404, "body.threadId", "is no thread of this user"],
    [{ threadId: "t" }, 404, "body.threadId", "is no thread of this user"],
  ];
  for (const [body, status, ...detail] of cases)
    expect(await details(body), JSON.stringify(body)).toEqual([status, detail]);
  expect((await call(`/v1/users/${owner}/threads`)).body.items).toEqual([]);
});

it("takes times within a day of now, old ones, and the word of a model that found nothing", async () => {
  const near = clock() + 3_600_000;
  for (const body of [{ createdAt: near }, { createdAt: [0, -1] }, { extracted: { facts: [] } }])
    expect((await ingest(newUser(), { messages: moved, ...body })).status, JSON.stringify(body)).toBe(202);
});

it("keeps the sentence of what a pattern finds without a model, and its triple where the pattern is sure", async () => {
  const owner = newUser();
  const messages = [
    ...moved,
    user("I'm allergic to nuts, and to nothing else. My sister is ill, isn't she?"),
  ];
  const result = await ingested(owner, { messages, extract: ["facts"] });
  expect(result).toMatchObject({
    model: null,
    status: "done",
    messages: { stored: 3, extracted: 3, last: 3 },
  });
  const created = { kind: "fact", outcome: "created", memoryId: expect.any(String) };
  expect(result.results).toEqual([
    { ...created, sources: [1] },
    { ...created, sources: [3] },
  ]);
  const source = { thread: result.threadId, extractor: "patterns/2" };
  const [sure, sentence] = await memoriesOf(owner);
  expect(sure).toMatchObject({
    text: "I'm allergic to nuts, and to nothing else.",
    predicate: "is allergic to",
    object: "nuts",
    trust: "model",
    source: { ...source, message: 3 },
  });
  expect(sentence).toMatchObject({ text: "I have moved to Lisbon.", source: { ...source, message: 1 } });
  expect(sentence).not.toHaveProperty("predicate");
  expect(await memoriesOf(owner, "&status=quarantined")).toEqual([]);
});

it("knows a live fact again", async () => {
  const owner = newUser();
  const fact = { subject: "user", predicate: "is allergic to", object: "nuts" };
  const { body: live } = await call(`/v1/users/${owner}/memories`, { json: fact });
  const { results } = await ingested(owner, {
    messages: [user("I'm allergic to nuts.")],
    extract: ["facts"],
  });
  expect(results).toEqual([{ kind: "fact", outcome: "known", memoryId: live.id, sources: [1] }]);
});

it("extracts from a thread that is stored already", async () => {
  const owner = newUser();
  const { body: thread } = await call(`/v1/users/${owner}/threads`, { json: {} });
  await call(`/v1/threads/${thread.id}/messages`, { json: { messages: moved } });
  const first = await ingested(owner, { threadId: thread.id });
  expect(first.results.map(({ kind }: { kind: string }) => kind)).toEqual(["fact", "episode"]);
  await call(`/v1/threads/${thread.id}/messages`, { json: { messages: [user("I have moved to Porto.")] } });
  const second = await ingested(owner, { threadId: thread.id, extract: ["facts"] });
  expect(second.results.map(({ sources }: { sources: number[] }) => sources)).toEqual([[3]]);
});

it("stores what the caller's own model found", async () => {
  const owner = newUser();
  const fields = { subject: "user", predicate: "lives in", object: "Lisbon" };
  const fact = { ...fields, sources: [0] };
  const result = await ingested(owner, { messages: moved, extracted: { facts: [fact] } });
  expect(result).toMatchObject({ status: "done", counts: { created: 1 } });
  const [memory] = await memoriesOf(owner);
  expect(memory).toMatchObject({ ...fields, text: "I have moved to Lisbon.", source: { message: 1 } });
  const again = await ingested(owner, { messages: moved, extracted: { facts: [fact] } });
  expect(again).toMatchObject({ status: "done", counts: { known: 1 } });
  // The sentence does not say what somebody corrects.
  const path = `/v1/users/${owner}/memories/${memory.id}`;
  const { body: corrected } = await call(path, { method: "PATCH", json: { object: "Faro" } });
  expect(corrected).toMatchObject({ object: "Faro", text: "user lives in Faro" });
});

it("gives a memory the least trust of its messages, of who extracted it, and of the token", async () => {
  const said = "The trip to Porto costs 600 euros.";
  const tool = { role: "tool", toolCallId: "c1", content: said };
  const asked = { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "price", arguments: {} }] };
  const trustOf = async (sources: number[], trust?: Trust) => {
    const owner = newUser();
    const token = await tokenWith({ user: owner, ...(trust && { trust }) });
    const messages = [user(said), assistant("It does."), asked, tool];
    const extracted = { episodes: [{ text: "The trip to Porto costs 600 euros.", sources }] };
    await ingest(owner, { messages, extracted }, { token });
    return (await memoriesOf(owner, "&status=active&status=quarantined")).map((one) => one.trust);
  };
  expect(await trustOf([0])).toEqual(["model"]);
  expect(await trustOf([0, 1])).toEqual(["model"]);
  expect(await trustOf([0, 3])).toEqual(["tool"]);
  expect(await trustOf([0], "tool")).toEqual(["tool"]);
  expect(await trustOf([0, 3], "import")).toEqual(["import"]);
});

it("gives an episode by rules the least trust of its messages and of the token", async () => {
  const trustOf = async (trust?: Trust) => {
    const owner = newUser();
    const token = await tokenWith({ user: owner, ...(trust && { trust }) });
    await ingest(owner, { messages: [moved[0]], extract: ["episodes"] }, { token });
    return (await memoriesOf(owner)).map((one) => one.trust);
  };
  expect(await trustOf()).toEqual(["user"]);
  expect(await trustOf("tool")).toEqual(["tool"]);
});

it("replays no answer about a thread that is deleted since", async () => {
  const owner = newUser();
  const first = (await ingest(owner, { messages: moved })).body;
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  const again = (json: object) => call(`/v1/users/${owner}/ingest`, { json, headers });
  const json = { messages: [...moved, user("I like it here.")] };
  const { threadId, ingestId } = (await again(json)).body;
  expect(threadId).toBe(first.threadId);
  expect((await again(json)).body).toMatchObject({ threadId, ingestId });
  await call(`/v1/threads/${threadId}`, { method: "DELETE" });
  const anew = (await again(json)).body;
  expect(anew.threadId).not.toBe(threadId);
  expect(await messagesOf(anew.threadId)).toHaveLength(moved.length + 1);
});

it("answers at once in the background, and the alarm extracts", async () => {
  const owner = newUser();
  const { body } = await ingest(owner, { messages: moved, mode: "background", extract: ["facts"] });
  expect(body.status).toBe("queued");
  await ring(owner);
  expect(await readIngest(body.ingestId)).toMatchObject({ status: "done", counts: { created: 1 } });
});
