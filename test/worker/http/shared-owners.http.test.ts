import { env } from "cloudflare:workers";
import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { call, newUser, tokenWith } from "../../call.ts";
import { rememberMany } from "../../memory-calls.ts";
import { create } from "../../thread-calls.ts";

const newShared = (): string => `shared:${newUser()}`;

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
