import { env } from "cloudflare:workers";
import { decodeJwt, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { RevocationList } from "../../../src/worker/auth/revocation-list.ts";
import { D1Revocations } from "../../../src/platform/d1/revocations.ts";
import { limits } from "../../../src/domain/limits.ts";
import { call, newUser, token } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { realPorts } from "../../doubles/ports.ts";

const tokens = "/v1/revocations/tokens";
const floor = "/v1/revocations/min-issued-at";
const jtiOf = (bearer: string): string => decodeJwt(bearer).jti ?? "";
const revoke = (jti: string, body: object = {}) =>
  call(`${tokens}/${encodeURIComponent(jti)}`, { method: "PUT", json: body });
/** The code of the refusal, or the status. */
async function ask(bearer: string): Promise<string | number> {
  const { status, body } = await call("/v1/cache/none", { token: bearer });
  return body.error.code === "not_found" ? "passes" : (body.error.code ?? status);
}

beforeEach(async () => {
  await env.DB.batch([
    env.DB.prepare("DELETE FROM revoked_tokens"),
    env.DB.prepare("DELETE FROM token_floor"),
  ]);
  // A list that was read in the future is read again.
  control.clockAhead = 31_000;
  await call("/v1/revocations");
  restore();
});
afterEach(restore);

it("refuses a revoked token from the next call on, and no other of its user's", async () => {
  const user = newUser();
  const [stolen, other] = [await token(user), await token(user)];
  expect(await ask(stolen)).toBe("passes");
  const { status, body } = await revoke(jtiOf(stolen), { expiresAt: clock() + 60_000 });
  expect(status).toBe(200);
  expect(body.tokenId).toBe(jtiOf(stolen));
  expect(await ask(stolen)).toBe("token_revoked");
  expect(await ask(other)).toBe("passes");
});

it("takes a revocation back", async () => {
  const bearer = await token(newUser());
  await revoke(jtiOf(bearer));
  expect(await ask(bearer)).toBe("token_revoked");
  expect((await call(`${tokens}/${jtiOf(bearer)}`, { method: "DELETE" })).status).toBe(204);
  expect(await ask(bearer)).toBe("passes");
});

it("hears within 30 seconds of what another isolate revoked, also for a token that it has just believed", async () => {
  const bearer = await token(newUser());
  expect(await ask(bearer)).toBe("passes");
  await new D1Revocations(env.DB).revoke({
    tokenId: jtiOf(bearer),
    expiresAt: clock() + 3_600_000,
    revokedAt: clock(),
  });
  control.clockAhead = 29_000;
  expect(await ask(bearer)).toBe("passes");
  control.clockAhead = 31_000;
  expect(await ask(bearer)).toBe("token_revoked");
});

it("refuses what was revoked while the list was on its way, from the next call on", async () => {
  let held: (() => void)[] = [];
  let revoked: string[] = [];
  const list = new RevocationList({
    now: () => 1_000_000,
    revocations: {
      inForce: async () => {
        // D1 has answered; its answer is still on its way.
        const tokenIds = [...revoked];
        await new Promise<void>((arrive) => held.push(arrive));
        return { minIssuedAt: 0, tokenIds };
      },
    },
  });
  const arrives = () => {
    for (const arrive of held) arrive();
    held = [];
  };
  const caller = { user: "u", scopes: new Set<never>(), shared: new Set<string>(), tokenId: "stolen" };
  const verified = { caller, issuedAt: 1, expiresAt: 2_000_000 };
  const before = list.refusal(verified);
  revoked = ["stolen"];
  list.invalidate();
  arrives();
  // It was asked before the revocation was answered.
  expect(await before).toBeNull();
  const after = list.refusal(verified);
  arrives();
  expect(await after).toMatchObject({ code: "token_revoked" });
});

it("reads D1 once in 30 seconds, not with every call", async () => {
  const bearer = await token(newUser());
  expect(await ask(bearer)).toBe("passes");
  control.revocations = "fail";
  for (let i = 0; i < 5; i++) expect(await ask(bearer)).toBe("passes");
});

describe("a time before which no token may have been issued", () => {
  const issued = async (ago: number, more: object = {}) =>
    new SignJWT({
      sub: newUser(),
      scope: "cache",
      iat: Math.floor(clock() / 1000) - ago,
      exp: Math.floor(clock() / 1000) + 3600,
      ...more,
    })
      .setProtectedHeader({ alg: "HS256" })
      .sign(new TextEncoder().encode(env.CAIRN_SECRET));

  it("refuses the older ones, those that do not say when, and no newer ones, until it is taken away", async () => {
    const time = clock() - 60_000;
    const [old, fresh, silent] = [await issued(120), await issued(30), await issued(0, { iat: undefined })];
    expect((await call(floor, { method: "PUT", json: { minIssuedAt: time } })).body).toEqual({
      minIssuedAt: time,
    });
    expect([await ask(old), await ask(fresh), await ask(silent)]).toEqual([
      "token_revoked",
      "passes",
      "token_revoked",
    ]);
    expect((await call("/v1/revocations")).body).toEqual({ minIssuedAt: time, items: [] });
    expect((await call(floor, { method: "DELETE" })).status).toBe(204);
    expect([await ask(old), await ask(silent)]).toEqual(["passes", "passes"]);
  });

  it("refuses the very token that set it, if it is older, and must be told", async () => {
    const admin = await issued(10, { sub: "*", scope: "admin cache" });
    const set = (json: object) => call(floor, { method: "PUT", token: admin, json });
    expect((await set({})).body.error.details).toEqual([
      { path: "body.minIssuedAt", message: "is required" },
    ]);
    expect((await set({ minIssuedAt: clock() - 5000 })).status).toBe(200);
    expect(await ask(admin)).toBe("token_revoked");
  });

  it("cannot be in the future: nobody could take it back", async () => {
    const answer = await call(floor, { method: "PUT", json: { minIssuedAt: clock() + 60_000 } });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("body.minIssuedAt");
    expect((await call("/v1/revocations")).body).toEqual({ items: [] });
  });
});

describe("while D1 does not answer", () => {
  it("goes by the last list for 5 minutes, then answers 503", async () => {
    const [stolen, good] = [await token(newUser()), await token(newUser())];
    await revoke(jtiOf(stolen));
    expect([await ask(stolen), await ask(good)]).toEqual(["token_revoked", "passes"]);
    control.revocations = "fail";
    control.clockAhead = 4.9 * 60_000;
    expect([await ask(stolen), await ask(good)]).toEqual(["token_revoked", "passes"]);
    control.clockAhead = 5.1 * 60_000;
    expect(await ask(good)).toBe("storage_unavailable");
    control.revocations = "ok";
    expect([await ask(stolen), await ask(good)]).toEqual(["token_revoked", "passes"]);
  });

  it("answers 503 where the list was never read, to who calls and to who revokes", async () => {
    const ports = { ...env, DB: { batch: () => Promise.reject(new Error("D1_ERROR: down")) } };
    const headers = { Authorization: `Bearer ${await token("*")}` };
    const answer = await createApp(realPorts).request("/v1/cache/none", { headers }, ports);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("Retry-After")).toBe("2");
  });

  it("says so to who revokes, lists or takes back", async () => {
    const bearer = await token(newUser());
    expect(await ask(bearer)).toBe("passes");
    control.revocations = "fail";
    for (const asked of [
      revoke("x"),
      call(`${tokens}/x`, { method: "DELETE" }),
      call(floor, { method: "PUT", json: { minIssuedAt: 1e12 } }),
      call(floor, { method: "DELETE" }),
      call("/v1/revocations"),
    ])
      expect((await asked).body.error.code).toBe("storage_unavailable");
  });
});

it.each([
  ["of a token that is over", `${tokens}/x`, { expiresAt: clock() - 1 }],
  ["in seconds, as a token's exp is", `${tokens}/x`, { expiresAt: Math.floor(clock() / 1000) + 3600 }],
  ["in seconds, of all tokens", floor, { minIssuedAt: Math.floor(clock() / 1000) }],
])("refuses a time %s: nothing would be revoked", async (_, path, json) => {
  const { status, body } = await call(path, { method: "PUT", json });
  expect([status, body.error.details[0].message]).toEqual([400, expect.stringContaining("milliseconds")]);
});

it("keeps a token revoked for as long as somebody wanted it", async () => {
  const [early, late] = [clock() + 3_600_000, clock() + 7_200_000];
  await call(`${tokens}/twice`, { method: "PUT", json: { expiresAt: late } });
  const again = await call(`${tokens}/twice`, { method: "PUT", json: { expiresAt: early } });
  expect(again.body.expiresAt).toBe(late);
});

it("lists what is revoked by ids, page by page, without what has expired by itself", async () => {
  const ids = ["b", "a", "c/ü"];
  for (const id of ids) await revoke(id, { expiresAt: clock() + 60_000 });
  await revoke("old", { expiresAt: clock() - 31_000 });
  const first = (await call("/v1/revocations?limit=2")).body;
  expect(first.items.map(({ tokenId }: { tokenId: string }) => tokenId)).toEqual(["a", "b"]);
  const second = (await call(`/v1/revocations?limit=2&cursor=${first.cursor}`)).body;
  expect(second.items).toEqual([
    { tokenId: "c/ü", expiresAt: expect.any(Number), revokedAt: expect.any(Number) },
  ]);
  expect(second.cursor).toBeUndefined();
  expect((await call("/v1/revocations?cursor=x")).body.error.code).toBe("invalid_cursor");
});

it("keeps a revocation for 10 years unless it is told when the token expires", async () => {
  const { body } = await revoke("for-good");
  expect(body.expiresAt - body.revokedAt).toBe(limits.ttlMs);
});

it("takes 10,000 revoked tokens and no more, and an id of 256 bytes and no longer", async () => {
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO revoked_tokens SELECT 'token-' || i, ?, 0 FROM n`,
  )
    .bind(limits.revokedTokens - 1, clock() + 60_000)
    .run();
  expect((await revoke("x".repeat(256))).status).toBe(200);
  const over = await revoke("one-more");
  expect(over.status).toBe(409);
  expect(over.body.error.code).toBe("limit_reached");
  // Not to delete one: that would let its token in again.
  expect(over.body.error.message).toContain("PUT /v1/revocations/min-issued-at");
  expect(over.body.error.message).not.toContain("delete");
  // One that is there already can still be changed.
  expect((await revoke("token-1")).status).toBe(200);
  expect((await revoke("x".repeat(257))).body.error.code).toBe("limit_exceeded");
});

it("lets no user revoke, whatever the scope", async () => {
  const bearer = await token(newUser());
  for (const asked of [
    call(`${tokens}/x`, { method: "PUT", token: bearer }),
    call(`${tokens}/x`, { method: "DELETE", token: bearer }),
    call(floor, { method: "PUT", token: bearer, json: { minIssuedAt: 0 } }),
    call(floor, { method: "DELETE", token: bearer }),
    call("/v1/revocations", { token: bearer }),
  ])
    expect((await asked).status).toBe(403);
});
