// D1 is away when the memories of a step are to be stored: they are stored later, as they would have been.
import { afterEach, describe, expect, it } from "vitest";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { ScriptedModel } from "../../../doubles/language-models.ts";
import { assistant, ingest, memoriesOf, readIngest, ring, user } from "./calls.ts";

afterEach(restore);

const MINUTE = 60_000;
const facts = { extract: ["facts"], mode: "background" };
const lives = (object: string, source: number) => ({
  subject: "user",
  predicate: "lives in",
  object,
  sources: [source],
});
/** What takes the statement of Porto back stands more than two messages behind it. */
const kidding = [
  user("I work as a nurse."),
  assistant("Good."),
  user("I live in Porto."),
  assistant("Nice."),
  assistant("Lovely town."),
  assistant("And warm."),
  user("Just kidding."),
];
const nurse = { subject: "user", predicate: "works as", object: "a nurse", sources: [1] };

async function beginOutage(owner: string): Promise<void> {
  control.d1Writes = "before";
  expect((await call(`/v1/users/${owner}/memories`, { json: { text: "I like tea" } })).status).toBe(503);
}
async function endOutage(owner: string): Promise<void> {
  control.d1Writes = "ok";
  for (let i = 0; i < 3; i++) {
    control.clockAhead += 2 * MINUTE;
    await ring(owner);
  }
}
const seenOf = async (owner: string) =>
  (await memoriesOf(owner, "&status=active&status=quarantined"))
    .map(({ text, status }) => `${status}: ${text}`)
    .toSorted();
/** What becomes of the conversation if the storage refuses its memories at first. */
async function ingestedIn(owner: string, { outage }: { outage: boolean }) {
  if (outage) await beginOutage(owner);
  const { body } = await ingest(owner, { messages: kidding, ...facts });
  await ring(owner);
  const { why } = await readIngest(body.ingestId);
  expect(why).toBe(outage ? "storage" : undefined);
  await endOutage(owner);
  const { status, counts } = await readIngest(body.ingestId);
  return { status, counts };
}

describe.each([false, true])("a statement that is taken back far behind it (outage: %s)", (outage) => {
  const tea = outage ? ["active: I like tea"] : [];

  it("is no fact by rules", async () => {
    const owner = newUser();
    expect(await ingestedIn(owner, { outage })).toEqual({ status: "done", counts: { created: 1 } });
    expect(await seenOf(owner)).toEqual(["active: I work as a nurse.", ...tea].toSorted());
  });

  it("waits in quarantine if a model finds it, and the model is asked once", async () => {
    const model = new ScriptedModel({ facts: [lives("Porto", 3)] });
    control.languageModel = model;
    const owner = newUser();
    expect(await ingestedIn(owner, { outage })).toEqual({ status: "done", counts: { quarantined: 1 } });
    expect(await seenOf(owner)).toEqual([...tea, "quarantined: user lives in Porto"]);
    expect([model.asked.length, model.looked.length]).toEqual([1, 0]);
  });

  it("waits in quarantine as well beside a fact that the model looks at", async () => {
    const model = new ScriptedModel({ facts: [nurse, lives("Porto", 3)] });
    control.languageModel = model;
    const owner = newUser();
    const { counts } = await ingestedIn(owner, { outage });
    expect(counts).toEqual({ created: 1, quarantined: 1 });
    expect(model.looked).toHaveLength(1);
    expect(await seenOf(owner)).toContain("quarantined: user lives in Porto");
  });
});

it("holds up the later ingests of its thread, also those of the caller's own memories", async () => {
  const owner = newUser();
  const first = [user("I live in Porto.")];
  const given = (messages: object[], fact: object) =>
    ingest(owner, { sessionId: "s", messages, extracted: { facts: [fact] }, mode: "background" });
  await beginOutage(owner);
  const porto = (await given(first, lives("Porto", 0))).body.ingestId;
  await ring(owner);
  control.clockAhead += MINUTE / 2;
  control.d1Writes = "ok";
  expect((await call(`/v1/users/${owner}/memories`, { json: { text: "I like cake" } })).status).toBe(201);
  const longer = [...first, assistant("Nice."), user("I live in Bonn now.")];
  const bonn = (await given(longer, lives("Bonn", 2))).body.ingestId;
  await ring(owner);
  expect(await readIngest(bonn)).toMatchObject({ status: "queued", why: "storage" });
  await endOutage(owner);
  const { results } = await readIngest(porto);
  expect(results).toMatchObject([{ outcome: "created" }]);
  expect((await readIngest(bonn)).results).toMatchObject([
    { outcome: "updated", superseded: [results[0].memoryId] },
  ]);
});

it("lets each ingest of its thread end after a long outage", async () => {
  const owner = newUser();
  const first = [user("I live in Porto.")];
  const given = (messages: object[], fact: object) =>
    ingest(owner, { sessionId: "s", messages, extracted: { facts: [fact] }, mode: "background" });
  await beginOutage(owner);
  const porto = (await given(first, lives("Porto", 0))).body.ingestId;
  await ring(owner);
  const longer = [...first, assistant("Nice."), user("I live in Bonn now.")];
  const bonn = (await given(longer, lives("Bonn", 2))).body.ingestId;
  // Both wait now: the first for the storage, the other for the first.
  for (let i = 0; i < 4; i++) {
    control.clockAhead += MINUTE;
    await ring(owner);
  }
  await endOutage(owner);
  await endOutage(owner);
  expect(await readIngest(porto)).toMatchObject({ status: "done", counts: { created: 1 } });
  expect(await readIngest(bonn)).toMatchObject({ status: "done", counts: { updated: 1 } });
});
