// Rows of ingests as a former release has written them.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { ScriptedModel } from "../../../doubles/language-models.ts";
import { assistant, ingest, ingested, memoriesOf, readIngest, ring, user } from "./calls.ts";

afterEach(restore);

const NOTHING = { facts: [], episodes: [], procedures: [] };
const lives = (object: string, source: number) => ({
  subject: "user",
  predicate: "lives in",
  object,
  sources: [source],
});
const messages = [user("I live in Lisbon."), assistant("Nice."), user("I like tea.")];
const tea = { subject: "user", predicate: "likes", object: "tea", sources: [3] };
const lisbon = lives("Lisbon", 1);

const inObject = async <T>(owner: string, work: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(env.USER_MEMORY.getByName(await userHash(owner)), (_, { storage }) => work(storage.sql));
/** What the ingests of a user have besides their states. */
const extractedOf = (owner: string) =>
  inObject(owner, (sql) => JSON.stringify(sql.exec("SELECT extracted FROM ingests").toArray()));
const setFormer = (owner: string, extracted: object) =>
  inObject(owner, (sql) => void sql.exec("UPDATE ingests SET extracted = ?", JSON.stringify(extracted)));
/** A queued ingest with such a row. */
async function queued(given: object, extracted: object) {
  const owner = newUser();
  const { body } = await ingest(owner, { messages, mode: "background", ...given });
  await setFormer(owner, extracted);
  return { owner, ...body };
}
const given = { extracted: { facts: [lives("Lisbon", 0)] } };
const lookOf = (extractor: unknown, proposals: object) => ({
  proposals: { ...NOTHING, ...proposals },
  extractor,
  seqs: [1, 2, 3],
  facts: [{}],
  most: 20,
});
const byModel = { model: "scripted", prompt: "extract/3" };

describe("the caller's memories", () => {
  it.each([
    ["that were not begun", { ...NOTHING, facts: [lisbon, tea] }],
    ["without the kinds that have none", { facts: [lisbon, tea] }],
    ["in a look under way", { ...NOTHING, facts: [tea], looks: [lookOf("caller", { facts: [lisbon] })] }],
  ])("%s are stored", async (_, extracted) => {
    const { owner, ingestId } = await queued(given, extracted);
    await ring(owner);
    expect(await readIngest(ingestId)).toMatchObject({ status: "done", counts: { created: 2 } });
    const objects = new Set((await memoriesOf(owner)).map(({ object }) => object));
    expect(objects).toEqual(new Set(["Lisbon", "tea"]));
  });

  it("lose the text of a message that is deleted", async () => {
    const { owner, ingestId, threadId } = await queued(given, { facts: [lisbon, tea] });
    const { status } = await call(`/v1/threads/${threadId}/messages/1`, { method: "DELETE" });
    expect(status).toBe(204);
    expect(await extractedOf(owner)).not.toContain("Lisbon");
    await ring(owner);
    expect(await readIngest(ingestId)).toMatchObject({ status: "done", counts: { created: 1, failed: 1 } });
  });
});

describe("a look under way at what the model found", () => {
  const looking = {
    looks: [{ ...lookOf(byModel, { facts: [lisbon] }), range: { kinds: ["facts"], after: 0, to: 3 } }],
  };

  it("is made anew", async () => {
    const model = new ScriptedModel({ facts: [lisbon] });
    control.languageModel = model;
    const { owner, ingestId } = await queued({ extract: ["facts"] }, looking);
    await ring(owner);
    expect(await readIngest(ingestId)).toMatchObject({ status: "done", counts: { created: 1 } });
    expect([model.asked.length, model.looked.length]).toEqual([1, 1]);
    expect(await extractedOf(owner)).not.toContain("Lisbon");
  });

  it("loses the text of a message that is deleted", async () => {
    control.languageModel = new ScriptedModel({ facts: [] });
    const { owner, threadId } = await queued({ extract: ["facts"] }, looking);
    await call(`/v1/threads/${threadId}/messages/1`, { method: "DELETE" });
    expect(await extractedOf(owner)).not.toContain("Lisbon");
  });
});

it("facts without a look wait in quarantine, and the next ingest of the thread ends", async () => {
  const model = new ScriptedModel({ facts: [lisbon] }, { facts: [lives("Bonn", 5)] });
  model.looks = () => new Error("away");
  control.languageModel = model;
  const owner = newUser();
  const of = { sessionId: "s", extract: ["facts"] };
  const first = await ingested(owner, { ...of, messages });
  for (let i = 0; i < 12; i++) {
    await ring(owner);
    control.clockAhead += 30 * 60_000;
  }
  expect(await readIngest(first.id)).toMatchObject({ status: "partial", why: "model_failed" });
  const [waiting] = await memoriesOf(owner, "&status=quarantined");
  await setFormer(owner, { unlooked: [{ extractor: byModel, ids: [waiting.id] }] });
  model.looks = [];
  const longer = [...messages, assistant("And?"), user("I live in Bonn.")];
  const next = await ingested(owner, { ...of, messages: longer });
  await ring(owner);
  expect(await readIngest(next.id)).toMatchObject({ status: "done", counts: { created: 1 } });
  expect((await memoriesOf(owner, "&status=quarantined")).map(({ id }) => id)).toEqual([waiting.id]);
});
