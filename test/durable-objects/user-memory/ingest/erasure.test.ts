import { expect, it } from "vitest";
import { call, newUser } from "../../../call.ts";
import { assistant, ingest, ingested, memoriesOf, messagesOf, readIngest, ring, user } from "./calls.ts";

const moved = [user("I have moved to Lisbon."), assistant("How do you like it?")];

it("extracts nothing from a thread that was deleted before the extraction", async () => {
  const owner = newUser();
  const { body } = await ingest(owner, { messages: moved, mode: "background" });
  await call(`/v1/threads/${body.threadId}`, { method: "DELETE" });
  await ring(owner);
  expect((await call(`/v1/ingests/${body.ingestId}`)).status).toBe(404);
  expect(await memoriesOf(owner, "&status=active&status=quarantined")).toEqual([]);
});

it("stores a conversation anew after its thread was deleted", async () => {
  const owner = newUser();
  const { body: first } = await ingest(owner, { messages: moved, sessionId: "monday" });
  await call(`/v1/threads/${first.threadId}`, { method: "DELETE" });
  const { body: second } = await ingest(owner, { messages: moved, sessionId: "monday" });
  expect(second).toMatchObject({ stored: 2, known: 0 });
  expect(second.threadId).not.toBe(first.threadId);
});

it("keeps no ingest of an erased user", async () => {
  const owner = newUser();
  const { body } = await ingest(owner, { messages: moved, mode: "background" });
  await call(`/v1/users/${owner}`, { method: "DELETE" });
  expect((await call(`/v1/ingests/${body.ingestId}`)).status).toBe(404);
  await ring(owner);
  expect(await memoriesOf(owner, "&status=active&status=quarantined")).toEqual([]);
});

it("keeps no ingest of an erased scope", async () => {
  const owner = newUser();
  const fact = { subject: "user", predicate: "lives in", object: "Lisbon", sources: [0] };
  const { body } = await ingest(owner, {
    messages: moved,
    scope: "work",
    extracted: { facts: [fact] },
    mode: "background",
  });
  await call(`/v1/users/${owner}/erasures`, { json: { scope: "work" } });
  expect((await call(`/v1/ingests/${body.ingestId}`)).status).toBe(404);
  await ring(owner);
  expect(await memoriesOf(owner, "&status=active&status=quarantined")).toEqual([]);
});

it("cites no message that was deleted before the extraction", async () => {
  const owner = newUser();
  const fact = { subject: "user", predicate: "lives in", object: "Lisbon", sources: [0] };
  const { body } = await ingest(owner, {
    messages: moved,
    extracted: { facts: [fact] },
    mode: "background",
  });
  await call(`/v1/threads/${body.threadId}/messages/1`, { method: "DELETE" });
  await ring(owner);
  const result = await readIngest(body.ingestId);
  expect(result).toMatchObject({ status: "done", counts: { failed: 1 } });
  expect(result.results[0]).toMatchObject({ outcome: "failed", reasons: ["source_deleted"] });
  expect(await memoriesOf(owner, "&status=active&status=quarantined")).toEqual([]);
});

it("keeps what was extracted when its thread is deleted, until it is forgotten by its source", async () => {
  const owner = newUser();
  const result = await ingested(owner, { messages: moved, extract: ["facts"] });
  await call(`/v1/threads/${result.threadId}`, { method: "DELETE" });
  expect(await memoriesOf(owner)).toHaveLength(1);
  const filter = { sourceThread: result.threadId };
  await call(`/v1/users/${owner}/memories/forget`, { json: { filter } });
  expect(await memoriesOf(owner)).toEqual([]);
});

it("does not store a deleted message again when its conversation comes again", async () => {
  const owner = newUser();
  for (const named of [{ sessionId: "monday" }, {}]) {
    const messages = [...moved, user("Very much."), assistant("Good.")];
    const { body: first } = await ingest(owner, { ...named, messages });
    await call(`/v1/threads/${first.threadId}/messages/2`, { method: "DELETE" });
    const { body: again } = await ingest(owner, { ...named, messages: [...messages, user("Bye.")] });
    expect(again).toMatchObject({ threadId: first.threadId, stored: 1, known: 4 });
    expect(await messagesOf(first.threadId)).toEqual([
      "I have moved to Lisbon.",
      "Very much.",
      "Good.",
      "Bye.",
    ]);
  }
});
