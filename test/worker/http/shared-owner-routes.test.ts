// Each route that is one user's, called on a shared owner that the token only reads.
import { describe, expect, it } from "vitest";
import { ways } from "../../binding-calls.ts";
import { type Answer, call, newUser } from "../../call.ts";
import { type DeclaredOperation, declaredOperations, isOneUsers } from "../../declared.ts";
import { remember } from "../../memory-calls.ts";
import { pathOf } from "../../operations.ts";
import { append, create, say } from "../../thread-calls.ts";

/** Counters are the owner's, though the scope of an outcome is `read`. */
const changes = ({ scope, operationId }: DeclaredOperation): boolean =>
  scope !== "read" || operationId === "recallOutcome";

/** A shared owner is no person: nobody signs in as one. */
const isOfPersons = ({ operationId }: DeclaredOperation): boolean => operationId === "listSignIns";

const newShared = (): string => `shared:${newUser()}`;
const owned = (await declaredOperations()).filter(isOneUsers);

const team = newShared();
const { id: threadId } = await create(team);
await append(threadId, [say("hi")]);
const { id: memoryId } = (await remember(team, { text: "x" })).body;
await call(`/v1/users/${team}/kv/some%2Fkey`, { method: "PUT", json: 1 });
const summary = { summary: "x", to: 1 };
const { id: compactionId } = (await call(`/v1/threads/${threadId}/compactions`, { json: summary })).body;
const { id: erasureId } = (await call(`/v1/users/${team}/erasures`, { json: { scope: "none" } })).body;
const { recallId: heldRecall } = (await call(`/v1/users/${team}/recall`, { json: { query: "x" } })).body;
const { ingestId } = (await call(`/v1/users/${team}/ingest`, { json: { threadId } })).body;
const held = { user: team, threadId, memoryId, compactionId, erasureId, ingestId, recallId: heldRecall };

describe.each(ways)("$way", (way) => {
  /** Calls the operation on the team's memory, as somebody else who names these shared owners. None changes it. */
  const ask = async (operation: DeclaredOperation, shared: string[]): Promise<Answer> =>
    way.ask(
      pathOf(operation, held),
      { method: operation.method, ...(operation.hasBody ? { json: {} } : {}) },
      { user: newUser(), shared },
    );

  it.each(owned)(
    "$method $path finds nothing of a shared owner that the caller does not name",
    async (each) => {
      expect((await ask(each, [newShared()])).status).toBe(404);
    },
  );

  it.each(owned.filter((one) => !changes(one) && !isOfPersons(one)))(
    "$method $path reads what is a shared owner's",
    async (operation) => {
      expect([401, 403, 404]).not.toContain((await ask(operation, [newShared(), team])).status);
    },
  );

  it.each(owned.filter(isOfPersons))("$method $path is of persons alone", async (operation) => {
    expect((await ask(operation, [newShared(), team])).status).toBe(403);
  });

  it.each(owned.filter(changes))(
    "$method $path changes nothing of a shared owner's, and says why",
    async (operation) => {
      const { status, body } = await ask(operation, [newShared(), team]);
      expect(status).toBe(403);
      expect(body.error.code).toBe("forbidden");
      expect(body.error.message).toContain("may only read");
    },
  );
});
