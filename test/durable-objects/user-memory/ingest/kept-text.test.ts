// An ingest keeps what it has found until it is stored. A deletion takes that too.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { ModelRefusal } from "../../../../src/platform/models/language-model.ts";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { lookEntry, ScriptedModel } from "../../../doubles/language-models.ts";
import { assistant, ingest, ingested, memoriesOf, readIngest, ring, user } from "./calls.ts";

afterEach(restore);

const facts = { extract: ["facts"] };
const tea = { subject: "user", predicate: "likes", object: "tea", sources: [1] };
const porto = { subject: "user", predicate: "lives in", object: "Porto", sources: [3] };
const lives = [user("I like tea."), assistant("How is it there?"), user("It rains. I live in Porto. You?")];
const away = () => new ModelRefusal("settings", "401");

function newModel(looks: ScriptedModel["looks"]): ScriptedModel {
  const model = new ScriptedModel({ facts: [tea, porto] }, { facts: [] });
  model.looks = looks;
  control.languageModel = model;
  return model;
}
/** All that the user's object stores of ingests. */
const storedOf = async (owner: string): Promise<string> =>
  runInDurableObject(env.USER_MEMORY.getByName(await userHash(owner)), (_, { storage: { sql } }) =>
    JSON.stringify(sql.exec("SELECT * FROM ingests").toArray()),
  );
const deleteMessage = async (id: string, seq: number) => {
  const { threadId } = await readIngest(id);
  await call(`/v1/threads/${threadId}/messages/${seq}`, { method: "DELETE" });
};
/** An ingest that waits for its first look, or for one that has failed once. */
async function waiting(given: object = {}): Promise<{ owner: string; id: string }> {
  newModel([new Error("away")]);
  const owner = newUser();
  const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background", ...given });
  await ring(owner);
  return { owner, id: body.ingestId };
}
const retry = async (owner: string, id: string) => {
  await call(`/v1/ingests/${id}/retry`, { json: {} });
  await ring(owner);
};

it("keeps no text of a fact that waits in quarantine for a look", async () => {
  const model = newModel(away);
  const owner = newUser();
  const { id } = await ingested(owner, { messages: lives, ...facts });
  expect(await memoriesOf(owner, "&status=quarantined")).toHaveLength(2);
  expect(await storedOf(owner)).not.toMatch(/tea|Porto/u);
  // Nor during the retry, which waits for its next attempt.
  model.looks = [new Error("away")];
  await retry(owner, id);
  expect(await readIngest(id)).toMatchObject({ status: "queued", why: "model_failed" });
  expect(await storedOf(owner)).not.toMatch(/tea|Porto/u);
});

it("keeps no text of a fact that the model found in a deleted message", async () => {
  const { owner, id } = await waiting();
  expect(await storedOf(owner)).toContain("tea");
  await deleteMessage(id, 1);
  expect(await storedOf(owner)).not.toContain("tea");
});

it("keeps no text of what the caller's model found in a deleted message, and says that it failed", async () => {
  const extracted = {
    facts: [
      { ...tea, sources: [0] },
      { ...porto, sources: [2] },
    ],
    episodes: [{ text: "The user likes tea.", sources: [0] }],
    procedures: [{ title: "Tea", text: "Drink tea.", sources: [0] }],
  };
  const { owner, id } = await waiting({ extracted, extract: undefined });
  expect(await storedOf(owner)).toContain("tea");
  await deleteMessage(id, 1);
  const stored = await storedOf(owner);
  expect(stored).not.toMatch(/tea/iu);
  expect(stored).toContain("Porto");
  await retry(owner, id);
  const { results, counts } = await readIngest(id);
  expect(counts).toEqual({ created: 1, failed: 3 });
  expect(results.flatMap(({ reasons = [] }: { reasons?: string[] }) => reasons)).toEqual(
    Array.from({ length: 3 }, () => "source_deleted"),
  );
});

it("keeps no text of memories of the caller's that come in a later step, if their message is deleted meanwhile", async () => {
  control.modelQuota = { calls: 1, tokens: null };
  const many = Array.from({ length: 40 }, (_, i) => user(`I like drink${i}.`));
  const messages = [...many, user("I like tea.")];
  // One step takes the memories with the first 100 citations.
  const citing = (object: string, at: number) => ({
    ...tea,
    object,
    sources: [at, at + 1, at + 2].filter((source) => source < messages.length),
  });
  const drinks = many.map((_, i) => citing(`drink${i}`, i));
  const extracted = { facts: [...drinks, { ...tea, sources: [40] }] };
  const model = newModel([]);
  const owner = newUser();
  const { body } = await ingest(owner, { messages, extracted, mode: "background" });
  model.looks = async (shown) => {
    await deleteMessage(body.ingestId, 41);
    return { looks: shown.map((fact) => lookEntry(fact)) };
  };
  await ring(owner);
  expect(model.looked).toHaveLength(1);
  const stored = await storedOf(owner);
  expect(stored).toContain("drink33");
  expect(stored).not.toContain("tea");
});

it("stores nothing of a message that is deleted while the model looks at its fact", async () => {
  const model = newModel([]);
  const owner = newUser();
  const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
  model.looks = async () => {
    await deleteMessage(body.ingestId, 1);
    return new Error("away");
  };
  await ring(owner);
  expect(model.looked).toHaveLength(1);
  expect(await storedOf(owner)).not.toContain("tea");
  expect(await memoriesOf(owner, "&status=active&status=quarantined")).toEqual([]);
});

it("keeps the text that a fork's messages have, whose thread loses one", async () => {
  const { owner, id } = await waiting();
  const { threadId } = await readIngest(id);
  const { body } = await call(`/v1/threads/${threadId}/fork`, { json: {} });
  await call(`/v1/threads/${body.id}/messages/1`, { method: "DELETE" });
  expect(await storedOf(owner)).toContain("tea");
});

it("leaves a fact to whoever has corrected it meanwhile", async () => {
  const model = newModel(away);
  const owner = newUser();
  const { id } = await ingested(owner, { messages: lives, ...facts });
  const [porto2] = (await memoriesOf(owner, "&status=quarantined")).filter(
    ({ object }) => object === "Porto",
  );
  const path = `/v1/users/${owner}/memories/${porto2.id}`;
  expect((await call(path, { method: "PATCH", json: { object: "Lisbon" } })).status).toBe(200);
  model.looks = [];
  await retry(owner, id);
  expect((await memoriesOf(owner)).map(({ object }) => object)).toEqual(["tea"]);
  expect((await call(path)).body).toMatchObject({ status: "quarantined", object: "Lisbon" });
});

it("finds a fact that waits after the rule of its predicate has changed", async () => {
  const predicate = "collects";
  const collects = { subject: "user", predicate, object: "stamps", sources: [1] };
  const model = new ScriptedModel({ facts: [collects] }, { facts: [] });
  model.looks = away;
  control.languageModel = model;
  const owner = newUser();
  const { id } = await ingested(owner, { messages: [user("I collect stamps.")], ...facts });
  const rule = `/v1/predicates/${predicate}`;
  expect((await call(rule, { method: "PUT", json: { cardinality: "one" } })).status).toBeLessThan(300);
  model.looks = [];
  await retry(owner, id);
  await call(rule, { method: "DELETE" });
  expect(await readIngest(id)).toMatchObject({ status: "done", counts: { created: 1 } });
  expect((await memoriesOf(owner)).map(({ object }) => object)).toEqual(["stamps"]);
  expect(await memoriesOf(owner, "&status=quarantined")).toEqual([]);
});

it("keeps what one row of the object holds: 1 MiB of the caller's memories, and not a byte more", async () => {
  const messages = [user("I like tea.")];
  const more = { text: "é".repeat(15_000), sources: [0] };
  const given = (bytes: number) => {
    const episodes = Array.from({ length: 34 }, () => more);
    const size = (text: string) =>
      new TextEncoder().encode(JSON.stringify({ episodes: [...episodes, { text, sources: [0] }] })).length;
    const text = "x".repeat(bytes - size(""));
    return { messages, extracted: { episodes: [...episodes, { text, sources: [0] }] }, mode: "background" };
  };
  const owner = newUser();
  expect((await ingest(owner, given(1_048_576))).status).toBe(202);
  const { status, body } = await ingest(owner, given(1_048_577));
  expect([status, body.error.code]).toEqual([400, "invalid_request"]);
  expect(body.error.details).toMatchObject([{ path: "body.extracted" }]);
});
