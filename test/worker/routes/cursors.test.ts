// A cursor belongs to the list that handed it out, and no other list takes it.
import { expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { operations } from "../../operations.ts";
import { patch, remembered } from "../../memory-calls.ts";
import { append, create, say } from "../../thread-calls.ts";

type List = { path: string; headers?: Record<string, string> };
type Named = Record<string, List>;

/** The first page of one item. */
const firstOf = ({ path, headers = {} }: List) =>
  call(`${path}${path.includes("?") ? "&" : "?"}limit=1`, { headers });
const nextOf = ({ path, headers = {} }: List, cursor: string) =>
  call(`${path}${path.includes("?") ? "&" : "?"}limit=1&cursor=${cursor}`, { headers });

/** All lists of one user, with two items or more each. */
async function listsOf(user: string): Promise<Named> {
  const u = `/v1/users/${user}`;
  const [{ id: threadId }] = [await create(user), await create(user)];
  await append(threadId, [say("one"), say("two"), say("three"), say("four")]);
  for (const to of [1, 3])
    await call(`/v1/threads/${threadId}/compactions`, { json: { from: to, to, summary: "short" } });
  const { id } = await remembered(user, { text: "The user lives in Porto" });
  await remembered(user, { text: "The user lives on tea" });
  await patch(user, id, { text: "The user lives in Faro" });
  await call(`${u}/recall`, { json: { query: "where does the user live?" } });
  const headers = { "Cairn-Namespace": user };
  for (const key of ["a", "b"]) {
    await call(`${u}/kv/${key}`, { method: "PUT", json: 1 });
    await call(`/v1/cache/${key}`, { method: "PUT", json: 1, headers });
    const usage = { provider: "google", model: key, cachedInputTokens: 5, uncachedInputTokens: 5 };
    await call("/v1/prompt-cache/report", { json: usage, headers });
    await call(`/v1/revocations/tokens/${user}-${key}`, { method: "PUT", json: {} });
  }
  return {
    listEntries: { path: `${u}/kv` },
    listThreads: { path: `${u}/threads` },
    listAllThreads: { path: "/v1/threads" },
    listMessages: { path: `/v1/threads/${threadId}/messages` },
    listCompactions: { path: `/v1/threads/${threadId}/compactions` },
    listMemories: { path: `${u}/memories` },
    getMemoryHistory: { path: `${u}/memories/${id}/history` },
    listMemoryUsage: { path: `${u}/usage` },
    listCacheKeys: { path: "/v1/cache", headers },
    getPromptCacheStats: { path: "/v1/prompt-cache/stats", headers },
    listUsers: { path: "/v1/users" },
    listRevocations: { path: "/v1/revocations" },
    listAuditEvents: { path: "/v1/audit" },
  };
}

it("a cursor is taken by its own list, and by none of another kind or owner", async () => {
  const user = newUser();
  const [lists, others] = [await listsOf(user), await listsOf(newUser())];
  const withCursor = (await operations()).filter(
    ({ method, parameters }) => method === "GET" && parameters.includes("cursor"),
  );
  expect(new Set(withCursor.map(({ operationId }) => operationId))).toEqual(new Set(Object.keys(lists)));
  const tenantWide = new Set(["listAllThreads", "listUsers", "listRevocations", "listAuditEvents"]);
  for (const [name, list] of Object.entries(lists)) {
    const { cursor } = (await firstOf(list)).body;
    expect(cursor, name).toEqual(expect.any(String));
    expect((await nextOf(list, cursor)).status, name).toBe(200);
    // A review goes on as well, by cursors of its own (test/worker/routes/memories-review.http.test.ts).
    const review = await call(`/v1/users/${user}/memories/review?cursor=${cursor}`, {
      json: { decision: "release", filter: {} },
    });
    expect([review.status, review.body.error?.code], name).toEqual([400, "invalid_cursor"]);
    const foreign = [
      ...Object.entries(lists).filter(([other]) => other !== name),
      ...Object.entries(others).filter(([other]) => other !== name || !tenantWide.has(name)),
    ];
    for (const [other, one] of foreign) {
      const { status, body } = await nextOf(one, cursor);
      expect([status, body.error?.code], `${name} in ${other}`).toEqual([400, "invalid_cursor"]);
    }
  }
});
