import { env } from "cloudflare:workers";
import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { type Answer, call, newUser, tokenWith } from "../call.ts";
import { remember, rememberMany } from "../memory-calls.ts";
import { type Operation, operations, pathOf } from "../operations.ts";
import { append, create, say } from "../thread-calls.ts";

/** Counters are the owner's, though the scope of an outcome is `read`. */
const changes = ({ scope, operationId }: Operation): boolean =>
  scope !== "read" || operationId === "recallOutcome";

const newShared = (): string => `shared:${newUser()}`;
const owned = (await operations()).filter(({ path }) =>
  /\{user\}|(threads|erasures|ingests|recalls)\/\{id\}/.test(path),
);

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

/** Calls the operation on the team's memory, with a token of somebody else that names these shared owners. None changes it. */
const ask = async (operation: Operation, shared: string[]): Promise<Answer> =>
  call(pathOf(operation, held), {
    method: operation.method,
    token: await tokenWith({ user: newUser(), shared }),
    ...(operation.hasBody ? { json: {} } : {}),
  });

it.each(owned)("$method $path finds nothing of a shared owner that the token does not name", async (each) => {
  expect((await ask(each, [newShared()])).status).toBe(404);
});

it.each(owned.filter((one) => !changes(one)))(
  "$method $path reads what is a shared owner's",
  async (operation) => {
    expect([401, 403, 404]).not.toContain((await ask(operation, [newShared(), team])).status);
  },
);

it.each(owned.filter(changes))(
  "$method $path changes nothing of a shared owner's, and says why",
  async (operation) => {
    const { status, body } = await ask(operation, [newShared(), team]);
    expect(status).toBe(403);
    expect(body.error.code).toBe("forbidden");
    expect(body.error.message).toContain("may only read");
  },
);

it("recalls what a shared owner holds, and refuses a batch of entries that writes", async () => {
  const owner = newShared();
  await rememberMany(owner, [{ text: "Releases go out on Tuesdays" }]);
  const token = await tokenWith({ user: newUser(), shared: [owner] });
  const recalled = await call(`/v1/users/${owner}/recall`, { token, json: { query: "when do we release?" } });
  expect(recalled.body.hits[0].text).toBe("Releases go out on Tuesdays");
  const batch = (op: object) =>
    call(`/v1/users/${owner}/kv/batch`, { token, json: { operations: [{ key: "k", ...op }] } });
  expect((await batch({ op: "get" })).status).toBe(200);
  expect((await batch({ op: "set", value: 1 })).body.error.code).toBe("forbidden");
});

it("counts nothing of a shared owner's for somebody who only reads it", async () => {
  const owner = newShared();
  await rememberMany(owner, [{ text: "Releases go out on Tuesdays" }]);
  const token = await tokenWith({ user: newUser(), shared: [owner] });
  for (const path of ["recall", "context"]) {
    const json = { query: "when do releases go out?" };
    const { status, body } = await call(`/v1/users/${owner}/${path}`, { token, json });
    expect([status, body.recallId]).toEqual([200, undefined]);
    expect(JSON.stringify(body)).toContain("Releases go out on Tuesdays");
  }
  expect((await call(`/v1/users/${owner}/usage`)).body.items).toEqual([]);
  const { recallId } = (await call(`/v1/users/${owner}/recall`, { json: { query: "releases?" } })).body;
  const told = await call(`/v1/recalls/${recallId}/outcome`, { token, json: { answer: "On Tuesdays." } });
  expect(told.status).toBe(403);
  expect((await call(`/v1/users/${owner}/usage`)).body.items).toMatchObject([{ recalled: 1, usedLikely: 0 }]);
});

it("still needs the scope to read", async () => {
  const owner = newShared();
  const token = await tokenWith({ user: newUser(), scope: ["write"], shared: [owner] });
  expect((await call(`/v1/users/${owner}/kv`, { token })).body.error.message).toContain("'read'");
});

it("lets the owner's own token, and one of all users, write", async () => {
  const owner = newShared();
  const own = await tokenWith({ user: owner });
  for (const token of [own, await tokenWith({ user: "*", shared: [owner] })])
    expect((await call(`/v1/users/${owner}/kv/k`, { method: "PUT", json: 1, token })).status).toBe(200);
});

it.each([
  ["no array", "shared:team"],
  ["an id without the prefix", ["team"]],
  ["the id of all users", ["*"]],
  ["something that is no id", [7]],
  ["an id that could not be stored under", [`shared:${"x".repeat(250)}`]],
  ["a lone surrogate", ["shared:\ud800"]],
  ["more than 64 ids", Array.from({ length: 65 }, (_, i) => `shared:${i}`)],
])("refuses a token whose claim of shared owners is %s", async (_, shared) => {
  const token = await new SignJWT({ sub: "alice", scope: "read", exp: 4_102_444_800, shared })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(env.CAIRN_SECRET));
  expect((await call("/v1/users/alice/kv", { token })).body.error.code).toBe("invalid_token");
});

it("takes 64 shared owners, each of them read", async () => {
  const teams = Array.from({ length: 64 }, newShared);
  const token = await tokenWith({ user: newUser(), shared: teams });
  const { id } = await create(teams[63] ?? "");
  expect((await call(`/v1/threads/${id}`, { token })).status).toBe(200);
  expect((await call(`/v1/users/${teams[0]}/kv`, { token })).status).toBe(200);
});
