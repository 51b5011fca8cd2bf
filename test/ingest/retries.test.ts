// What an ingest does with messages whose extraction fails: it goes on behind them, and a retry extracts them only.
import { afterEach, describe, expect, it } from "vitest";
import { ModelRefusal } from "../../src/platform/models/language-model.ts";
import { modelFromBindings } from "../../src/platform/models/model-from-bindings.ts";
import { call, newUser } from "../call.ts";
import { control, restore } from "../doubles/control.ts";
import { evict } from "../evict.ts";
import { messagesIn, type Reply, RuledModel, ScriptedModel } from "../doubles/language-models.ts";
import { assistant, ingest, ingested, memoriesOf, messagesOf, readIngest, ring, user } from "./calls.ts";

afterEach(restore);

const MINUTE = 60_000;
const facts = { extract: ["facts"] };
const livesIn = (object: string, ...sources: number[]) => ({
  facts: [{ subject: "user", predicate: "lives in", object, sources }],
});
/** The seqs that each call of the model was asked to extract from. */
const seqsAsked = ({ asked }: ScriptedModel): number[][] =>
  asked.map((request) => messagesIn(request).map(({ n }) => n));
/** Three windows: each of these messages fills one. */
const long = (text: string) => user(`${text} ${"It rains. ".repeat(1_200)}`);
const threeWindows = [long("I live in Porto."), long("I like tea."), long("I work as a nurse.")];

describe("messages that the model refuses", () => {
  it("are left out, and those behind them are extracted", async () => {
    const model = new ScriptedModel(new ModelRefusal("messages", "filtered"), livesIn("Rome", 2));
    control.languageModel = model;
    const owner = newUser();
    const messages = [threeWindows[0], user("I live in Rome.")];
    const result = await ingested(owner, { messages, ...facts });
    expect(result).toMatchObject({
      status: "partial",
      why: "model_refused",
      messages: { extracted: 2 },
      counts: { created: 1 },
      usage: { calls: 1 },
    });
    await ingest(owner, { messages: [...messages, assistant("Nice."), user("Yes.")], ...facts });
    expect(seqsAsked(model)).toEqual([[1], [2], [3, 4]]);
  });

  it("do not use up the quota, and neither does a model with wrong settings", async () => {
    control.modelQuota = { calls: 1, tokens: null };
    const owner = newUser();
    control.languageModel = modelFromBindings({ LLM_URL: "https://llm.test/v1" });
    const wrong = await ingested(owner, { messages: [user("I live in Rome.")], ...facts });
    expect(wrong).toMatchObject({ status: "partial", why: "model_misconfigured", usage: { calls: 0 } });
    const model = new ScriptedModel(
      new ModelRefusal("settings", "401"),
      new ModelRefusal("messages", "filtered"),
      livesIn("Rome", 1),
    );
    control.languageModel = model;
    await evict(owner);
    const retry = async () => {
      await call(`/v1/ingests/${wrong.id}/retry`, { json: {} });
      await ring(owner);
      return readIngest(wrong.id);
    };
    expect(await retry()).toMatchObject({ status: "partial", why: "model_misconfigured" });
    expect(await retry()).toMatchObject({ status: "partial", why: "model_refused" });
    expect(await retry()).toMatchObject({ status: "done", counts: { created: 1 }, usage: { calls: 1 } });
  });
});

describe("a retry", () => {
  it("extracts what failed, and nothing else", async () => {
    const model = new ScriptedModel(livesIn("Porto", 1), "Sure!", "Sure!", { facts: [] });
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: threeWindows, ...facts });
    expect(body).toMatchObject({ status: "partial", why: "invalid_answer" });
    await call(`/v1/ingests/${body.ingestId}/retry`, { json: {} });
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "queued", messages: { extracted: 1 } });
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done", messages: { extracted: 3 } });
    expect(seqsAsked(model)).toEqual([[1], [2], [2], [3], [2]]);
  });

  it("keeps what is left of it if the model fails again", async () => {
    const away: Reply[] = Array.from({ length: 10 }, () => new Error("away"));
    const model = new ScriptedModel("Sure!", "Sure!", ...away, { facts: [] });
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: [user("I live in Rome.")], ...facts });
    await call(`/v1/ingests/${body.ingestId}/retry`, { json: {} });
    for (let i = 0; i < 11; i++) {
      await ring(owner);
      control.clockAhead += 6 * MINUTE;
    }
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "partial", why: "model_failed" });
    await call(`/v1/ingests/${body.ingestId}/retry`, { json: {} });
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done" });
    expect(model.asked).toHaveLength(13);
  });

  it("leaves the episode of a session that goes on to the ingest that waits for it", async () => {
    control.languageModel = new ScriptedModel("Sure!", "Sure!", { facts: [] }, { facts: [] });
    const owner = newUser();
    const messages = [user("I live in Rome.")];
    const given = { sessionId: "one", mode: "background" };
    const { body: first } = await ingest(owner, { ...given, messages });
    await ring(owner);
    const { body: second } = await ingest(owner, { ...given, messages: [...messages, assistant("Nice.")] });
    await ring(owner);
    const { followUp } = await readIngest(second.ingestId);
    await call(`/v1/ingests/${first.ingestId}/retry`, { json: {} });
    await ring(owner);
    expect(await readIngest(first.ingestId)).toMatchObject({ status: "done", followUp });
    const model = new ScriptedModel({ episodes: [{ text: "The user lives in Rome.", sources: [1] }] });
    control.languageModel = model;
    await evict(owner);
    control.clockAhead += 31 * MINUTE;
    await ring(owner);
    await ring(owner);
    expect(seqsAsked(model)).toEqual([[1, 2]]);
    expect(await memoriesOf(owner)).toMatchObject([{ kind: "episode" }]);
  });
});

it("asks the model with a bounded prompt, however long the messages are", async () => {
  const model = new ScriptedModel({ facts: [] });
  control.languageModel = model;
  const messages = [...Array.from({ length: 5 }, () => long("x".repeat(20_000))), user("I live in Rome.")];
  await ingest(newUser(), { messages, ...facts });
  for (const { messages: prompt } of model.asked) expect(prompt[0]?.content.length).toBeLessThan(22_000);
  expect(seqsAsked(model)).toEqual([[1], [2], [3], [4], [5], [6]]);
});

it("does not ask the model again for messages whose memories wait for D1", async () => {
  const model = new RuledModel((messages) => ({
    facts: messages.flatMap(({ n, text }) =>
      [...text.matchAll(/live in (\w+)/g)].flatMap((found) => livesIn(found[1] ?? "", n).facts),
    ),
  }));
  control.languageModel = model;
  const owner = newUser();
  control.d1Writes = "before";
  // A write that D1 has not confirmed keeps the memories of an ingest back.
  expect((await call(`/v1/users/${owner}/memories`, { json: { text: "I like tea" } })).status).toBe(503);
  const [first, second] = [
    [user("I live in Rome.")],
    [assistant("Nice."), user("I live in Rome since May.")],
  ];
  const given = { sessionId: "one", mode: "background", ...facts };
  const started = [];
  for (const messages of [first, [...first, ...second]]) {
    started.push((await ingest(owner, { ...given, messages })).body.ingestId);
    await ring(owner);
  }
  expect(await readIngest(started[1])).toMatchObject({ status: "queued", why: "storage" });
  control.d1Writes = "ok";
  for (let i = 0; i < 3; i++) {
    control.clockAhead += 2 * MINUTE;
    await ring(owner);
  }
  for (const id of started) expect(await readIngest(id)).toMatchObject({ status: "done" });
  expect(seqsAsked(model)).toEqual([[1], [2, 3]]);
});

it("stores the new messages of a call whose extracted memories cite a deleted one", async () => {
  const owner = newUser();
  const messages = [user("I live in Rome."), assistant("Nice."), user("Yes."), assistant("Oh.")];
  const { body } = await ingest(owner, { messages, extracted: { facts: [] } });
  await call(`/v1/threads/${body.threadId}/messages/1`, { method: "DELETE" });
  const more = [...messages, user("I live in Bonn.")];
  const result = await ingested(owner, {
    messages: more,
    extracted: { facts: [...livesIn("Rome", 0).facts, ...livesIn("Bonn", 4).facts] },
  });
  expect(await messagesOf(body.threadId)).toEqual(["Nice.", "Yes.", "Oh.", "I live in Bonn."]);
  expect(result).toMatchObject({ status: "done", counts: { created: 1, failed: 1 } });
  expect(result.results[0]).toMatchObject({ outcome: "failed", reasons: ["source_deleted"] });
});

it("makes no episode of a session that goes on if its last message was deleted", async () => {
  const owner = newUser();
  const messages = [user("I live in Rome, and I work as a nurse."), assistant("Nice.")];
  const { body } = await ingest(owner, { messages, mode: "background", extract: ["episodes"] });
  await call(`/v1/threads/${body.threadId}/messages/2`, { method: "DELETE" });
  await ring(owner);
  expect(await readIngest(body.ingestId)).toMatchObject({ status: "done", followUp: expect.any(String) });
  expect(await memoriesOf(owner)).toEqual([]);
});
