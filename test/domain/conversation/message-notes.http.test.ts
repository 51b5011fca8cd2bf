// Notes to a caller on messages that are stored as they came.
import { expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { append, create, say } from "../../thread-calls.ts";

const NOTE = {
  index: 1,
  code: "unknown_role",
  message:
    'The role "human" counts as a tool: no live fact comes of what it says, and no context takes it for the user\'s. ' +
    "Rules know user, assistant, system, developer and tool, in small letters.",
};
const MESSAGES = [say("Hello"), say("I live in Porto.", "human"), say("Noted.", "assistant")];

it("an append notes a message whose role no rule knows, also where it is repeated", async () => {
  const { id } = await create(newUser());
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  for (let time = 0; time < 2; time++) {
    const { status, body } = await append(id, MESSAGES, {}, headers);
    expect([status, body]).toEqual([201, { length: 3, firstSeq: 1, lastSeq: 3, notes: [NOTE] }]);
  }
});

it("an ingest notes a message whose role no rule knows", async () => {
  const { status, body } = await call(`/v1/users/${newUser()}/ingest`, { json: { messages: MESSAGES } });
  expect([status, body.notes]).toEqual([202, [NOTE]]);
});

it("an answer has no notes where each role is known", async () => {
  const user = newUser();
  const { id } = await create(user);
  const roles = ["user", "assistant", "system", "developer", "tool", "model", "function"];
  const messages = roles.map((role) => say("x", role));
  const appended = await append(id, messages);
  const ingested = await call(`/v1/users/${user}/ingest`, { json: { threadId: id } });
  expect([appended.status, ingested.status]).toEqual([201, 202]);
  for (const { body } of [appended, ingested]) expect(body).not.toHaveProperty("notes");
});
