// Messages whose extraction fails: an ingest goes on behind them, and a retry extracts only these.
import { afterEach, describe, expect, it } from "vitest";
import { type GenerateRequest, ModelRefusal } from "../../../../src/platform/models/language-model.ts";
import { modelFromBindings } from "../../../../src/platform/models/model-from-bindings.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { evict } from "../../../evict.ts";
import { messagesIn, type Reply, RuledModel, ScriptedModel } from "../../../doubles/language-models.ts";
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
const retry = (id: string) => call(`/v1/ingests/${id}/retry`, { json: {} });
/** Finds the user's pets. Refuses a prompt with a text, as a filter does. */
class FilteringModel extends RuledModel {
  readonly #refused: string;

  constructor(refused: string) {
    super((messages) => ({
      facts: messages.flatMap(({ n, text }) =>
        [...text.matchAll(/named (\w+)/g)].map(([, object]) => ({
          subject: "user",
          predicate: "has pet",
          object,
          sources: [n],
        })),
      ),
    }));
    this.#refused = refused;
  }

  override async generate(request: GenerateRequest) {
    const answer = await super.generate(request);
    if (request.messages[0]?.content.includes(this.#refused)) throw new ModelRefusal("messages", "filtered");
    return answer;
  }
}
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
      usage: { calls: 2 },
    });
    await ingest(owner, { messages: [...messages, assistant("Nice."), user("It rains here.")], ...facts });
    expect(seqsAsked(model)).toEqual([[1], [2], [3, 4]]);
  });

  it("cost those beside them nothing, and neither the next turns", async () => {
    const model = new FilteringModel("bomb");
    control.languageModel = model;
    const owner = newUser();
    const messages = [
      user("I have a pet named Rex."),
      assistant("Nice."),
      user("I read how a bomb is made."),
      user("I have a pet named Tom."),
    ];
    const result = await ingested(owner, { messages, ...facts });
    expect(result).toMatchObject({
      status: "partial",
      why: "model_refused",
      failed: [{ kinds: ["facts"], from: 3, to: 3, why: "model_refused" }],
      usage: { calls: 4 },
    });
    expect(seqsAsked(model)).toEqual([[1, 2, 3, 4], [1, 2], [3, 4], [3, 4], [3], [3], [4], [4]]);
    const next = await ingested(owner, {
      messages: [...messages, user("I have a pet named Ida.")],
      ...facts,
    });
    expect(next).toMatchObject({ status: "done" });
    expect(new Set((await memoriesOf(owner)).map(({ object }) => object))).toEqual(
      new Set(["Ida", "Rex", "Tom"]),
    );
  });

  it("count against the quota while they are asked about, and no longer", async () => {
    control.modelQuota = { calls: 1, tokens: null };
    const asked = Promise.withResolvers<null>();
    const model = new (class extends ScriptedModel {
      override async generate(request: GenerateRequest) {
        if (this.asked.length > 0) return super.generate(request);
        this.asked.push(structuredClone(request));
        // The alarm really waits for what is left of its five seconds.
        control.clockAhead += 4_500;
        await asked.promise;
        throw new ModelRefusal("messages", "filtered");
      }
    })({ facts: [] });
    control.languageModel = model;
    const owner = newUser();
    const ids: string[] = [];
    for (const text of ["I live in Porto.", "I live in Rome."])
      ids.push((await ingest(owner, { messages: [user(text)], ...facts, mode: "background" })).body.ingestId);
    await ring(owner);
    const [first = "", second = ""] = ids;
    expect(await readIngest(second)).toMatchObject({ status: "queued", why: "quota" });
    asked.resolve(null);
    await expect
      .poll(async () => {
        await ring(owner);
        return readIngest(first);
      })
      .toMatchObject({ status: "partial" });
    control.clockAhead += MINUTE;
    await ring(owner);
    expect(await readIngest(second)).toMatchObject({ status: "done" });
  });

  it("do not use up the quota, and neither does a model with wrong settings", async () => {
    control.modelQuota = { calls: 2, tokens: null };
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
    const again = async () => {
      await retry(wrong.id);
      await ring(owner);
      return readIngest(wrong.id);
    };
    expect(await again()).toMatchObject({ status: "partial", why: "model_misconfigured" });
    expect(await again()).toMatchObject({ status: "partial", why: "model_refused" });
    expect(await again()).toMatchObject({ status: "done", counts: { created: 1 }, usage: { calls: 2 } });
  });
});

describe("a retry", () => {
  it("extracts what failed, and nothing else", async () => {
    const model = new ScriptedModel(livesIn("Porto", 1), "Sure!", "Sure!", { facts: [] });
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, { messages: threeWindows, ...facts });
    expect(body).toMatchObject({ status: "partial", why: "invalid_answer" });
    await retry(body.ingestId);
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
    await retry(body.ingestId);
    for (let i = 0; i < 11; i++) {
      await ring(owner);
      control.clockAhead += 6 * MINUTE;
    }
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "partial", why: "model_failed" });
    await retry(body.ingestId);
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
    await retry(first.ingestId);
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

it("answers the ingest that is retried already, also if it waits", async () => {
  control.languageModel = new ScriptedModel("Sure!", "Sure!", { facts: [] });
  const owner = newUser();
  const given = { messages: [user("I live in Porto.")], ...facts };
  const { id: ingestId } = await ingested(owner, given);
  for (let i = 0; i < 2; i++) {
    const { body } = await ingest(owner, { ...given, mode: "background" });
    expect(body).toMatchObject({ ingestId, status: "queued" });
  }
  expect((await ingest(owner, given)).body).toMatchObject({ ingestId, status: "done" });
});

describe("what failed", () => {
  it("is extracted by the same call after the ingest is gone", async () => {
    const model = new ScriptedModel("Sure!", "Sure!", { facts: [] });
    control.languageModel = model;
    const owner = newUser();
    const given = { messages: [user("I live in Porto.")], ...facts };
    const { id } = await ingested(owner, given);
    control.clockAhead += 8 * 24 * 60 * MINUTE;
    await ring(owner);
    control.clockAhead = 0;
    expect((await call(`/v1/ingests/${id}`)).status).toBe(404);
    for (let i = 0; i < 2; i++) expect(await ingested(owner, given)).toMatchObject({ status: "done" });
    expect(seqsAsked(model)).toEqual([[1], [1], [1]]);
  });

  it("is extracted in a fork after its origin is deleted", async () => {
    const model = new ScriptedModel("Sure!", "Sure!", { facts: [] });
    control.languageModel = model;
    const owner = newUser();
    const { body } = await ingest(owner, {
      messages: [user("I live in Rome."), assistant("Nice.")],
      ...facts,
    });
    const { id } = (await call(`/v1/threads/${body.threadId}/fork`, { json: {} })).body;
    await call(`/v1/threads/${id}/messages`, { json: { messages: [user("I like tea.")] } });
    await ingest(owner, { threadId: id, ...facts });
    await call(`/v1/threads/${body.threadId}`, { method: "DELETE" });
    for (let i = 0; i < 2; i++) await ingest(owner, { threadId: id, ...facts });
    expect(seqsAsked(model).slice(2)).toEqual([[3], [1, 2]]);
  });

  it("of a session's episode is kept though a later ingest waits for the next one", async () => {
    const text = "The user lives in Rome and works as a nurse.";
    const model = new ScriptedModel("Sure!", "Sure!", { episodes: [{ text, sources: [1] }] });
    control.languageModel = model;
    const owner = newUser();
    const messages = [user("I live in Rome. I work as a nurse."), assistant("Nice.")];
    const given = { sessionId: "one", mode: "background", extract: ["episodes"], messages };
    const { body } = await ingest(owner, given);
    await ring(owner);
    const { followUp } = await readIngest(body.ingestId);
    control.clockAhead += 31 * MINUTE;
    await ring(owner);
    expect(await readIngest(followUp)).toMatchObject({ status: "partial", why: "invalid_answer" });
    await retry(followUp);
    await ingest(owner, { ...given, messages: [...messages, user("Oh.")] });
    await ring(owner);
    expect(await readIngest(followUp)).toMatchObject({ status: "done" });
    expect(await memoriesOf(owner)).toMatchObject([{ text }]);
  });

  it("for an outage is done once a later ingest has extracted it", async () => {
    const refusal = new ModelRefusal("settings", "401");
    control.languageModel = new ScriptedModel(refusal, { facts: [] });
    const owner = newUser();
    const messages = [user("I live in Porto.")];
    const first = await ingested(owner, { messages, ...facts });
    expect(first).toMatchObject({ status: "partial", messages: { extracted: 0 } });
    const { body } = await call(`/v1/users/${owner}/summary`);
    expect(body.ingests).toMatchObject([{ id: first.id }]);
    await ingest(owner, { messages: [...messages, assistant("Nice.")], ...facts });
    const { why, ...covered } = await readIngest(first.id);
    expect(covered).toMatchObject({ status: "done", messages: { extracted: 1 } });
    expect(why).toBeUndefined();
    expect((await call(`/v1/users/${owner}/summary`)).body.ingests).toEqual([]);
  });
});

it("asks again if the model is away at its second question", async () => {
  const model = new ScriptedModel(
    { facts: [...livesIn("Porto", 1).facts, ...livesIn("Rome", 77).facts] },
    new Error("429"),
    { facts: [...livesIn("Porto", 1).facts, ...livesIn("Rome", 2).facts] },
  );
  control.languageModel = model;
  const messages = [user("I live in Porto."), user("I also live in Rome.")];
  const result = await ingested(newUser(), { messages, ...facts });
  expect(result.results).toHaveLength(2);
  expect(model.asked).toHaveLength(3);
});

describe("an ingest that had no model", () => {
  const retold = () =>
    new RuledModel((messages) => ({ episodes: messages.map(({ n, text }) => ({ text, sources: [n] })) }));
  const changeModel = async (owner: string, model: ScriptedModel) => {
    control.languageModel = model;
    await evict(owner);
  };

  it("is extracted anew by a retry: the ingest of a session's end, only that session", async () => {
    const owner = newUser();
    const messages = [user("I live in Rome. I work as a nurse."), user("I adopted a dog named Rex in May.")];
    const { body } = await ingest(owner, {
      messages,
      createdAt: [clock() - 120 * MINUTE, clock()],
      mode: "background",
      extract: ["episodes"],
    });
    await ring(owner);
    const { followUp } = await readIngest(body.ingestId);
    control.clockAhead += 31 * MINUTE;
    await ring(owner);
    const model = retold();
    await changeModel(owner, model);
    await retry(followUp);
    await ring(owner);
    expect(seqsAsked(model)).toEqual([[2]]);
  });

  it("is partial if the model fails in the retry, though rules had extracted all", async () => {
    const owner = newUser();
    const { id } = await ingested(owner, { messages: [user("I live in Porto.")], ...facts });
    await changeModel(owner, new ScriptedModel(new ModelRefusal("settings", "401")));
    await retry(id);
    await ring(owner);
    expect(await readIngest(id)).toMatchObject({ status: "partial", why: "model_misconfigured" });
  });

  it("leaves a session that went on to another ingest, which extracts it anew too", async () => {
    const owner = newUser();
    const given = { sessionId: "s", extract: ["episodes"] };
    const said = [user("I live in Rome. I work as a nurse."), assistant("Nice.")];
    const { body } = await ingest(owner, { ...given, messages: said.slice(0, 1), mode: "background" });
    await ring(owner);
    await ingest(owner, { ...given, messages: said });
    const model = retold();
    await changeModel(owner, model);
    await retry(body.ingestId);
    for (let i = 0; i < 3; i++) {
      await ring(owner);
      control.clockAhead += 31 * MINUTE;
    }
    expect(seqsAsked(model)).toEqual([[1]]);
  });

  it("names the model if one is there when it runs", async () => {
    const owner = newUser();
    const { body } = await ingest(owner, { messages: [user("Hi.")], ...facts, mode: "background" });
    await changeModel(owner, new ScriptedModel({ facts: [] }));
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "done", model: "scripted" });
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

it.each([
  ["", false],
  [", after an eviction", true],
])("does not ask the model again for messages whose memories wait for D1%s", async (_, isEvicted) => {
  const model = new FilteringModel("nothing of it");
  control.languageModel = model;
  const owner = newUser();
  control.d1Writes = "before";
  // A write that D1 has not confirmed keeps the memories of an ingest back.
  expect((await call(`/v1/users/${owner}/memories`, { json: { text: "I like tea" } })).status).toBe(503);
  const [first, second] = [[user("I live in Rome.")], [assistant("Nice."), user("I have a pet named Ida.")]];
  const given = { sessionId: "one", mode: "background", ...facts };
  const started = [];
  for (const messages of [first, [...first, ...second]]) {
    started.push((await ingest(owner, { ...given, messages })).body.ingestId);
    await ring(owner);
  }
  expect(await readIngest(started[1])).toMatchObject({ status: "queued", why: "storage" });
  if (isEvicted) await evict(owner);
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
