// Ingests with a language model: good, wrong, malicious, malformed, slow and failing ones.
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { evict } from "../../../evict.ts";
import {
  failing,
  HangingModel,
  late,
  malformed,
  NeverAnswering,
  RuledModel,
  ScriptedModel,
} from "../../../doubles/language-models.ts";
import { assistant, ingest, ingested, memoriesOf, messagesOf, readIngest, ring, user } from "./calls.ts";

afterEach(restore);

const MINUTE = 60_000;
const lives = [user("I live in Porto."), assistant("How is it?"), user("I love it. I work as a nurse.")];
/** The state of an ingest after one more alarm. */
async function rung(owner: string, id: string) {
  await ring(owner);
  return readIngest(id);
}
const good = () =>
  new ScriptedModel({
    facts: [
      { subject: "user", predicate: "lives in", object: "Porto", sources: [1] },
      { subject: "user", predicate: "works as", object: "nurse", sources: [3] },
    ],
  });
const facts = { extract: ["facts"] };

describe("a good model", () => {
  it("finds facts that are live, with their sources and their writer", async () => {
    control.languageModel = good();
    const owner = newUser();
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(result).toMatchObject({
      status: "done",
      model: "scripted",
      counts: { created: 2 },
      usage: { calls: 2, inputTokens: 200, outputTokens: 20 },
    });
    const memories = await memoriesOf(owner);
    expect(memories.toSorted((a, b) => a.source.message - b.source.message)).toMatchObject([
      {
        text: "I live in Porto.",
        trust: "model",
        writtenBy: { model: "scripted", prompt: "extract/3", tokenId: expect.any(String) },
        source: { thread: result.threadId, message: 1, extractor: "scripted" },
      },
      { text: "I work as a nurse.", source: { message: 3 } },
    ]);
  });

  it("is asked only about what is new, with the messages before as context", async () => {
    const model = good();
    control.languageModel = model;
    const owner = newUser();
    await ingest(owner, { messages: lives, ...facts });
    await ingest(owner, { messages: lives, ...facts });
    expect(model.asked).toHaveLength(1);
    await ingest(owner, { messages: [...lives, user("And I have a dog.")], ...facts });
    expect(model.asked).toHaveLength(2);
    const [context, messages = ""] =
      model.asked[1]?.messages[0]?.content.split("Messages to extract from:\n") ?? [];
    expect(messages.split("\n")).toHaveLength(1);
    expect(messages).toContain("dog");
    expect(context).toContain("nurse");
  });

  it("is not asked where nobody states anything, and gets that with the next messages", async () => {
    const model = good();
    control.languageModel = model;
    const owner = newUser();
    const thanks = [user("Thanks!"), assistant("You are welcome."), user("What is the capital of France?")];
    expect(await ingested(owner, { messages: thanks, ...facts })).toMatchObject({
      status: "done",
      messages: { extracted: 3 },
      usage: { calls: 0 },
    });
    expect(model.asked).toEqual([]);
    await ingest(owner, { messages: [...thanks, assistant("Paris."), user("I live in Porto.")], ...facts });
    expect(model.asked[0]?.messages[0]?.content).toMatch(
      /Thanks!.*You are welcome.*Messages to extract from/s,
    );
    const other = new ScriptedModel({ procedures: [] });
    control.languageModel = other;
    await ingest(newUser(), { messages: thanks, extract: ["facts", "procedures"] });
    expect(other.asked.map(({ schema }) => Object.keys(Object(schema["properties"]) as object))).toEqual([
      ["procedures"],
    ]);
  });

  it("splits a long conversation into windows, and goes on where it stood after an eviction", async () => {
    const model = new RuledModel((messages) => ({
      facts: messages.map(({ n, text }) => ({
        subject: "user",
        predicate: "has pet",
        object: /named (\w+)/.exec(text)?.[1] ?? "",
        sources: [n],
      })),
    }));
    control.languageModel = model;
    const owner = newUser();
    const many = Array.from({ length: 100 }, (_, i) => user(`I have a pet named Rex${i}.`));
    const { body } = await ingest(owner, { messages: many, ...facts, mode: "background" });
    await evict(owner);
    for (let rings = 0; rings < 10 && (await readIngest(body.ingestId)).status !== "done"; rings++)
      await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({
      status: "done",
      counts: { created: 100 },
      messages: { extracted: 100 },
    });
    expect(model.asked).toHaveLength(3);
    expect(await memoriesOf(owner)).toHaveLength(100);
  });

  it("supersedes its own facts, and not those of the user", async () => {
    control.languageModel = good();
    const owner = newUser();
    await call(`/v1/users/${owner}/memories`, {
      json: { subject: "user", predicate: "works as", object: "baker" },
    });
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(result.counts).toEqual({ created: 1, quarantined: 1 });
    const [waiting] = await memoriesOf(owner, "&status=quarantined");
    expect(waiting).toMatchObject({
      object: "nurse",
      reasons: ["conflicts_with_higher_trust"],
      conflictsWith: expect.any(String),
    });
  });

  it("tells the episode of a session once it is over", async () => {
    const model = new ScriptedModel({
      episodes: [{ text: "The user works as a nurse in Porto.", sources: [1, 3] }],
    });
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, extract: ["episodes"], mode: "background" });
    await ring(owner);
    const { followUp, ...first } = await readIngest(body.ingestId);
    expect(first).toMatchObject({ status: "done", counts: {}, messages: { extracted: 3 } });
    expect(await readIngest(followUp)).toMatchObject({ status: "queued", why: "session" });
    expect(model.asked).toHaveLength(0);
    control.clockAhead += 31 * MINUTE;
    await ring(owner);
    expect(model.asked).toHaveLength(1);
    expect(await readIngest(followUp)).toMatchObject({ status: "done", counts: { created: 1 } });
    expect(await memoriesOf(owner)).toMatchObject([
      { kind: "episode", text: "The user works as a nurse in Porto." },
    ]);
  });
});

describe("a model that obeys every instruction", () => {
  it("is asked by the deployment itself", async () => {
    control.languageModel = new RuledModel((messages) => ({
      facts: messages.map(({ n, text }) => ({
        subject: "user",
        predicate: "lives in",
        object: /in (\w+)/.exec(text)?.[1] ?? "",
        sources: [n],
      })),
    }));
    const owner = newUser();
    const messages = [
      user("Summarize this page:\nI live in Kansas."),
      { role: "tool", content: "The user lives in Minsk." },
    ];
    const result = await ingested(owner, { messages, ...facts });
    expect(result.counts).toEqual({ quarantined: 2 });
    expect(await memoriesOf(owner)).toEqual([]);
  });
});

describe("a model that is of no help", () => {
  it("answers nonsense: the messages are stored, the ingest is partial, and can be retried", async () => {
    const model = malformed();
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts });
    expect(await messagesOf(body.threadId)).toHaveLength(3);
    expect(await readIngest(body.ingestId)).toMatchObject({
      status: "partial",
      why: "invalid_answer",
      messages: { extracted: 3 },
      usage: { calls: 2 },
    });
    await call(`/v1/ingests/${body.ingestId}/retry`, { json: {} });
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "queued", messages: { extracted: 0 } });
    await ring(owner);
    expect(model.asked).toHaveLength(4);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "partial" });
  });

  it.each([
    ["fails", failing, "model_failed"],
    ["is late", late, "model_late"],
  ])("%s: it is asked again with pauses, and given up with a record", async (_, make, why) => {
    const model = make();
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "queued", why });
    for (let i = 0; i < 10; i++) {
      control.clockAhead += 6 * MINUTE;
      await ring(owner);
    }
    expect(model.asked).toHaveLength(10);
    expect(await readIngest(body.ingestId)).toMatchObject({
      status: "partial",
      why,
      messages: { extracted: 0 },
    });
    expect(await messagesOf(body.threadId)).toHaveLength(3);
  });

  it("comes back while a caller waits: the answer says that all is done", async () => {
    control.languageModel = new ScriptedModel(new Error("away"), {
      facts: [{ subject: "user", predicate: "lives in", object: "Porto", sources: [1] }],
    });
    const { body } = await ingest(newUser(), { messages: lives, ...facts });
    expect(body).toMatchObject({ status: "done" });
    expect(await readIngest(body.ingestId)).toMatchObject({ counts: { created: 1 } });
  });

  it("hangs: the alarm does not wait for it, and neither does the ingest of another thread", async () => {
    const model = new HangingModel({
      facts: [{ subject: "user", predicate: "lives in", object: "Porto", sources: [1] }],
    });
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "running" });
    const other = await ingest(owner, { messages: [user("I live in Porto. It rains.")], ...facts });
    expect(other.body).toMatchObject({ status: "done" });
    expect(model.asked).toHaveLength(2);
    await ring(owner);
    expect(model.asked).toHaveLength(2);
    model.letGo();
    await expect.poll(() => rung(owner, body.ingestId)).toMatchObject({ status: "done" });
    expect(model.asked).toHaveLength(2);
  });

  it("hangs: the alarm extracts other threads, counts the call that hangs, and returns", async () => {
    control.modelQuota = { calls: 2, tokens: null };
    const model = new HangingModel({ facts: [] });
    // The alarm really waits for what is left of its five seconds.
    model.moves = { call: 2, ms: 4_500 };
    control.languageModel = model;
    const owner = newUser();
    const started = [];
    for (const text of ["I live in Porto.", "I live in Rome.", "I live in Bonn."]) {
      const messages = [user(text)];
      started.push((await ingest(owner, { messages, ...facts, mode: "background" })).body.ingestId);
    }
    await ring(owner);
    const states = await Promise.all(started.map(async (id) => readIngest(id)));
    expect(states.map(({ status, why }) => [status, why])).toEqual([
      ["running", undefined],
      ["done", undefined],
      ["queued", "quota"],
    ]);
    model.letGo();
  });

  it("fails, and the object cannot even note it: the alarm pauses", async () => {
    const model = failing();
    control.languageModel = model;
    const owner = newUser();
    await ingest(owner, { messages: lives, ...facts, mode: "background" });
    const object = env.USER_MEMORY.getByName(await userHash(owner));
    const inObject = <T>(act: (storage: DurableObjectStorage) => T) =>
      runInDurableObject(object, (_, { storage }) => act(storage));
    await inObject(({ sql }) => {
      sql.exec("CREATE TRIGGER broken BEFORE UPDATE ON ingests BEGIN SELECT RAISE(ABORT, 'broken'); END");
    });
    await ring(owner);
    const alarm = await inObject((storage) => storage.getAlarm());
    expect(alarm).toBeGreaterThan(clock() + 3_000);
    await inObject(({ sql }) => {
      sql.exec("DROP TRIGGER broken");
    });
  });

  it("always adds a field: an answer that found nothing is one", async () => {
    control.languageModel = new ScriptedModel({ facts: [], notes: "none" });
    expect(await ingested(newUser(), { messages: lives, ...facts })).toMatchObject({ status: "done" });
  });

  it("answers after a message was deleted that it has read: it is asked again without that one", async () => {
    const model = new HangingModel(
      { episodes: [{ text: "The user has wombatitis and works as a nurse.", sources: [1, 2] }] },
      { episodes: [{ text: "The user works as a nurse.", sources: [2] }] },
    );
    control.languageModel = model;
    const owner = newUser();
    const messages = [user("I have wombatitis."), user("I work as a nurse.")];
    const { body } = await ingest(owner, { messages, extract: ["episodes"], mode: "background" });
    control.clockAhead += 31 * MINUTE;
    await ring(owner);
    await call(`/v1/threads/${body.threadId}/messages/1`, { method: "DELETE" });
    model.letGo();
    await expect.poll(() => rung(owner, body.ingestId)).toMatchObject({ status: "done" });
    expect(model.asked).toHaveLength(2);
    expect(model.asked[1]?.messages[0]?.content).not.toContain("wombatitis");
    expect(await memoriesOf(owner)).toMatchObject([{ text: "The user works as a nurse." }]);
  });

  it("hangs when the object dies: it is asked again", async () => {
    const model = new HangingModel({ facts: [] });
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    await ring(owner);
    await abortAllDurableObjects();
    control.clockAhead += 6 * MINUTE;
    await ring(owner);
    expect(model.asked).toHaveLength(2);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done" });
  });

  it("hangs each time until the object dies: it is asked ten times, and the ingest ends", async () => {
    const model = new NeverAnswering();
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    for (let i = 0; i < 11; i++) {
      await ring(owner);
      await abortAllDurableObjects();
      control.clockAhead += 6 * MINUTE;
    }
    await ring(owner);
    expect(model.asked).toHaveLength(10);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "partial", why: "internal_error" });
  });

  it("answers some nonsense twice: what is right in the second answer is stored", async () => {
    const right = { subject: "user", predicate: "lives in", object: "Porto", sources: [1] };
    const answer = {
      facts: [
        { ...right, sources: [1, 99], confidence: 0.9 },
        { ...right, object: "Rome", sources: [99] },
        { subject: "user", predicate: "works as" },
      ],
      notes: "none",
    };
    const model = new ScriptedModel(
      { facts: [], notes: "" },
      `Here you are:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`\nAnything else?`,
    );
    control.languageModel = model;
    const owner = newUser();
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(model.asked).toHaveLength(2);
    expect(result).toMatchObject({ status: "done", counts: { created: 1, failed: 2 } });
    expect(result.results).toContainEqual({
      kind: "fact",
      outcome: "failed",
      reasons: ["invalid_answer"],
      sources: [],
    });
    expect(await memoriesOf(owner)).toMatchObject([{ text: "I live in Porto.", source: { message: 1 } }]);
  });

  it("has answered nonsense: the same call extracts again, and answers with the first ingest", async () => {
    const found = [{ subject: "user", predicate: "lives in", object: "Porto", sources: [1] }];
    control.languageModel = new ScriptedModel("Sure!", "Sure!", { facts: found });
    const owner = newUser();
    const { body: first } = await ingest(owner, { messages: lives, extract: ["facts"] });
    expect(first).toMatchObject({ status: "partial", why: "invalid_answer" });
    const { body: again } = await ingest(owner, { messages: lives, extract: ["facts"] });
    expect(again).toEqual({
      ingestId: first.ingestId,
      threadId: first.threadId,
      stored: 0,
      known: 3,
      status: "done",
    });
    expect(await readIngest(first.ingestId)).toMatchObject({ counts: { created: 1 } });
    const { body: third } = await ingest(owner, { messages: lives, extract: ["facts"] });
    expect(third).toMatchObject({ status: "done" });
    expect(third.ingestId).not.toBe(first.ingestId);
  });

  it("has answered nonsense about facts: the same call extracts them again though an episode is to come", async () => {
    const found = [{ subject: "user", predicate: "lives in", object: "Porto", sources: [1] }];
    control.languageModel = new ScriptedModel("Sure!", "Sure!", { facts: found });
    const owner = newUser();
    const given = { messages: lives, mode: "background" };
    const { body: first } = await ingest(owner, given);
    await ring(owner);
    expect(await readIngest(first.ingestId)).toMatchObject({ status: "partial", why: "invalid_answer" });
    await ingest(owner, given);
    await ring(owner);
    expect(await readIngest(first.ingestId)).toMatchObject({ counts: { created: 1 } });
  });

  it("proposes what is no memory: the others are stored", async () => {
    const long = "x".repeat(2000);
    control.languageModel = new ScriptedModel({
      facts: [
        { subject: long, predicate: "lives in", object: "Porto", sources: [1] },
        { subject: "user", predicate: "lives in", object: "Porto", sources: [1] },
      ],
    });
    const owner = newUser();
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(result.counts).toEqual({ failed: 1, created: 1 });
    expect(result.results[0]).toMatchObject({ outcome: "failed", reasons: ["invalid"] });
  });
});

describe("the quota of the model", () => {
  it("lets the ingest wait for the next day, and keeps its messages", async () => {
    control.modelQuota = { calls: 2, tokens: null };
    const model = good();
    control.languageModel = model;
    const owner = newUser();
    await ingest(owner, { messages: lives, ...facts });
    const { body } = await ingest(owner, { messages: [...lives, user("I have a dog.")], ...facts });
    expect(body).toMatchObject({ status: "queued", why: "quota" });
    expect(await readIngest(body.ingestId)).toMatchObject({
      status: "queued",
      why: "quota",
      messages: { stored: 1 },
    });
    await ring(owner);
    expect(model.asked).toHaveLength(1);
    control.clockAhead += 24 * 60 * MINUTE;
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done" });
    expect(model.asked).toHaveLength(2);
  });
});

describe("the quota of the model", () => {
  it("is the same after the user was erased", async () => {
    control.modelQuota = { calls: 1, tokens: null };
    const model = good();
    control.languageModel = model;
    const owner = newUser();
    await ingest(owner, { messages: lives, ...facts });
    await call(`/v1/users/${owner}`, { method: "DELETE" });
    await ring(owner);
    const { body } = await ingest(owner, { messages: lives, ...facts });
    expect(body).toMatchObject({ status: "queued", why: "quota" });
    expect(model.asked).toHaveLength(1);
  });

  it("counts a call that was under way when the object died", async () => {
    control.modelQuota = { calls: 1, tokens: null };
    const model = new NeverAnswering();
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    await ring(owner);
    await abortAllDurableObjects();
    control.clockAhead += 6 * MINUTE;
    await ring(owner);
    expect(model.asked).toHaveLength(1);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "queued", why: "quota" });
  });

  it("of all users lets an ingest wait while D1 hangs", async () => {
    control.tenantModelQuota = { calls: 1_000, tokens: null };
    control.tenantModelUsage = "hang";
    const model = good();
    control.languageModel = model;
    const { body } = await ingest(newUser(), { messages: lives, ...facts });
    expect(body).toMatchObject({ status: "queued", why: "storage" });
    expect(model.asked).toEqual([]);
  });

  it("may be raised: a retry runs what waits for it", async () => {
    control.modelQuota = { calls: 2, tokens: null };
    control.languageModel = good();
    const owner = newUser();
    await ingest(owner, { messages: lives, ...facts });
    const { body } = await ingest(owner, { messages: [...lives, user("I have a dog.")], ...facts });
    expect(body).toMatchObject({ status: "queued", why: "quota" });
    control.modelQuota = { calls: 4, tokens: null };
    await evict(owner);
    await call(`/v1/ingests/${body.ingestId}/retry`, { json: {} });
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done" });
  });
});

describe("what is stored already", () => {
  it("is changed with a result that says so, and its history has the former text", async () => {
    const lisbon = { subject: "user", predicate: "lives in", object: "Lisbon" };
    control.languageModel = good();
    const owner = newUser();
    const headers = { "Cairn-Trust": "model" };
    const { body: former } = await call(`/v1/users/${owner}/memories`, { json: lisbon, headers });
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(result.counts).toEqual({ updated: 1, created: 1 });
    expect(result.results).toContainEqual(
      expect.objectContaining({ outcome: "updated", memoryId: former.id, superseded: [former.id] }),
    );
  });

  it("is not changed if it is a procedure: the new one waits", async () => {
    const owner = newUser();
    const messages = [user("To deploy the app I build it and push it to main.")];
    const deploy = (text: string) => ({ procedures: [{ title: "deploy the app", text, sources: [0] }] });
    const given = (text: string) => ingested(owner, { messages, extracted: deploy(text) });
    expect((await given("Build the app, push it to main.")).counts).toEqual({ created: 1 });
    expect((await given("Build the app, push it to main.")).counts).toEqual({ known: 1 });
    const { results } = await given("Push the app to main, build it.");
    expect(results).toMatchObject([{ outcome: "quarantined", reasons: ["replaces_procedure"] }]);
    expect(await memoriesOf(owner)).toMatchObject([{ text: "Build the app, push it to main." }]);
  });

  it("is checked in steps, of which each takes some of many memories", async () => {
    const owner = newUser();
    const likes = Array.from({ length: 250 }, (_, i) => `like${i}`);
    const found = likes.map((object, i) => ({ subject: "user", predicate: "likes", object, sources: [i] }));
    const messages = likes.map((like) => user(`I like ${like}.`));
    const { counts } = await ingested(owner, { messages, extracted: { facts: found } });
    expect(counts).toEqual({ created: 250 });
  });

  it("is no attachment of the user's message", async () => {
    control.languageModel = new ScriptedModel({
      facts: [{ subject: "user", predicate: "lives in", object: "Minsk", sources: [1] }],
    });
    const file = { type: "file", text: "I moved to Minsk in May." };
    const content = [{ type: "text", text: "Summarize the attachment, please." }, file];
    const { counts } = await ingested(newUser(), { messages: [{ role: "user", content }], ...facts });
    expect(counts).toEqual({ quarantined: 1 });
  });
});

describe("D1", () => {
  it("is away when the memories are to be stored: the object keeps them for it", async () => {
    const model = good();
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    control.d1Writes = "before";
    await ring(owner);
    await ring(owner);
    expect(await memoriesOf(owner)).toHaveLength(0);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done", counts: { created: 2 } });
    control.d1Writes = "ok";
    control.clockAhead += 6 * MINUTE;
    await ring(owner);
    expect(model.asked).toHaveLength(1);
    expect(await memoriesOf(owner)).toHaveLength(2);
  });

  it("has not confirmed an earlier write: the ingest waits, and the model is not asked again", async () => {
    const model = good();
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    control.d1Writes = "before";
    expect((await call(`/v1/users/${owner}/memories`, { json: { text: "I like tea" } })).status).toBe(503);
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "queued", why: "storage" });
    control.d1Writes = "ok";
    control.clockAhead += 6 * MINUTE;
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done" });
    expect(model.asked).toHaveLength(1);
    expect(await memoriesOf(owner)).toHaveLength(3);
  });

  it("keeps a memory deleted that was to be seen before D1 had confirmed it", async () => {
    control.languageModel = good();
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    control.d1NextWrites = ["after"];
    await ring(owner);
    const [first] = await memoriesOf(owner);
    await call(`/v1/users/${owner}/memories/${first.id}`, { method: "DELETE" });
    control.clockAhead += 6 * MINUTE;
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done" });
    expect((await memoriesOf(owner)).map(({ id }) => id)).not.toContain(first.id);
  });

  it("loses its answer: nothing is stored twice", async () => {
    control.languageModel = good();
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    control.d1NextWrites = ["after"];
    await ring(owner);
    control.clockAhead += 6 * MINUTE;
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done" });
    expect(await memoriesOf(owner)).toHaveLength(2);
  });
});
