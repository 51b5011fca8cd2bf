import { env } from "cloudflare:workers";
import { base64url, decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { pathWays, type Who, ways } from "../../binding-calls.ts";
import { call, newUser, token } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { pathOf } from "../../operations.ts";
import { declaredOperations } from "../../declared.ts";
import { append, create, say } from "../../thread-calls.ts";
import { keyId, mintToken } from "../../../src/domain/token.ts";
import { realPorts } from "../../doubles/ports.ts";

afterEach(restore);

const secured = (await declaredOperations()).filter(({ scope }) => scope !== undefined);
const within = secured.filter(({ owner }) => owner.kind === "thread");
const beyond = secured.filter((operation) => !within.includes(operation));

const PREVIOUS = "the secret before this one, of 32 bytes";
const NEXT = "the next secret of this tenant, of 32 bytes";
const seconds = () => Math.floor(clock() / 1000);
const key = (secret: string) => new TextEncoder().encode(secret);
const minted = (secret: string) =>
  mintToken(secret, { user: "alice", scope: ["read"], ttlMs: 60_000 }, clock());
/** A token of alice's as any JWT library would make it. */
const foreign = (secret: string, header: { alg: string; kid?: string }, claims: object = {}) =>
  new SignJWT({ scope: "read", sub: "alice", exp: seconds() + 60, ...claims })
    .setProtectedHeader(header)
    .sign(key(secret));
/** The same with claims of types that no library would sign. */
async function signed(secret: string, claims: object): Promise<string> {
  const json = (value: object) => base64url.encode(JSON.stringify(value));
  const content = `${json({ alg: "HS256" })}.${json({ scope: "read", sub: "alice", exp: seconds() + 60, ...claims })}`;
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key(secret), hmac, false, ["sign"]);
  return `${content}.${base64url.encode(new Uint8Array(await crypto.subtle.sign("HMAC", imported, key(content))))}`;
}
/** The verdict on a token of a deployment with these secrets. */
async function verdict(bearer: string, secrets: object = { CAIRN_SECRET: NEXT }) {
  const headers = { Authorization: `Bearer ${bearer}` };
  const answer = await createApp(realPorts).request(
    "/v1/users/alice/kv",
    { headers },
    { ...env, ...secrets },
  );
  const { error } = await answer.json<{ error?: { code: string } }>();
  return error?.code ?? answer.status;
}

describe("with a secret and the one before it", () => {
  const both = { CAIRN_SECRET: NEXT, CAIRN_SECRET_PREVIOUS: PREVIOUS };

  it("takes the tokens of both, with the key's id and without, and of no third", async () => {
    for (const secret of [NEXT, PREVIOUS])
      for (const bearer of [
        await minted(secret),
        await foreign(secret, { alg: "HS256" }),
        await foreign(secret, { alg: "HS256", kid: "of-a-library" }),
      ])
        expect(await verdict(bearer, both)).toBe(200);
    expect(await verdict(await minted("a third secret, of 32 bytes or more"), both)).toBe("invalid_token");
  });

  it("checks a token with the key that it names, and with no other", async () => {
    const misnamed = await foreign(NEXT, { alg: "HS256", kid: await keyId(PREVIOUS) });
    expect(await verdict(misnamed, both)).toBe("invalid_token");
  });

  it("says of a token of the former secret that it has expired, not that it is another's", async () => {
    expect(await verdict(await foreign(PREVIOUS, { alg: "HS256" }, { exp: 1 }), both)).toBe("token_expired");
  });

  it("takes none of the former secret's any more when that is taken away", async () => {
    const bearer = await minted(PREVIOUS);
    expect(await verdict(bearer, both)).toBe(200);
    expect(await verdict(bearer)).toBe("invalid_token");
    expect(await verdict(bearer, { CAIRN_SECRET: NEXT, CAIRN_SECRET_PREVIOUS: "" })).toBe("invalid_token");
  });
});

it("says at /health that the former secret is too short, and checks nothing with it", async () => {
  const short = { CAIRN_SECRET: NEXT, CAIRN_SECRET_PREVIOUS: "short" };
  const answer = await createApp(realPorts).request("/health", {}, { ...env, ...short });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    status: "degraded",
    problems: [expect.stringContaining("CAIRN_SECRET_PREVIOUS")],
  });
  expect(await verdict(await foreign("short", { alg: "HS256" }), short)).toBe("invalid_token");
});

it("mints tokens with an id of their own, and an id of the key that is not the key", async () => {
  const [one, other] = [await minted(NEXT), await minted(NEXT)];
  expect(decodeJwt(one).jti).toMatch(/^[0-9a-f-]{36}$/);
  expect(decodeJwt(one).jti).not.toBe(decodeJwt(other).jti);
  expect(decodeProtectedHeader(one)).toEqual({ alg: "HS256", typ: "JWT", kid: await keyId(NEXT) });
  expect(await keyId(NEXT)).toMatch(/^[\w-]{8}$/);
  expect(await keyId(NEXT)).not.toBe(await keyId(PREVIOUS));
});

it("takes no algorithm but HS256, whatever the token's header says", async () => {
  const long = "a secret of 64 bytes, which every HMAC takes: ..................";
  const secrets = { CAIRN_SECRET: long };
  expect(await verdict(await foreign(long, { alg: "HS256" }), secrets)).toBe(200);
  for (const alg of ["HS384", "HS512"])
    expect(await verdict(await foreign(long, { alg }), secrets)).toBe("invalid_token");
  const unsigned = new UnsecuredJWT({ scope: "read", sub: "alice", exp: seconds() + 60 }).encode();
  expect(await verdict(unsigned, secrets)).toBe("invalid_token");
});

describe("clocks that differ", () => {
  it.each([
    ["expired 29 s ago", { exp: -29 }, 200],
    ["expired 31 s ago", { exp: -31 }, "token_expired"],
    ["holds in 29 s", { nbf: 29 }, 200],
    ["holds in 32 s", { nbf: 32 }, "token_not_yet_valid"],
    ["was issued in 29 s", { iat: 29 }, 200],
    ["is issued in 32 s", { iat: 32 }, "token_not_yet_valid"],
  ])("a token that %s", async (_, offsets, expected) => {
    const now = seconds();
    const claims = Object.fromEntries(Object.entries(offsets).map(([name, offset]) => [name, now + offset]));
    // At the beginning of a second, so that what is left of it does not count.
    control.clockAt = now * 1000;
    const bearer = await foreign(env.CAIRN_SECRET, { alg: "HS256" }, { exp: now + 600, ...claims });
    const answer = await call("/v1/users/alice/kv", { token: bearer });
    expect(answer.body.error?.code ?? answer.status).toBe(expected);
  });
});

describe("a token that has just passed", () => {
  it("is refused from the second on in which it has expired for 30 seconds", async () => {
    const user = newUser();
    const bearer = await token(user, ["read"], 10);
    const ask = () => call(`/v1/users/${user}/kv`, { token: bearer });
    expect((await ask()).status).toBe(200);
    control.clockAhead = 38_000;
    expect((await ask()).status).toBe(200);
    control.clockAhead = 40_000;
    expect((await ask()).body.error.code).toBe("token_expired");
  });

  it("is refused when the clock is before the time from which it holds", async () => {
    const bearer = await foreign(env.CAIRN_SECRET, { alg: "HS256" }, { nbf: seconds() - 60 });
    expect((await call("/v1/users/alice/kv", { token: bearer })).status).toBe(200);
    control.clockAhead = -120_000;
    expect((await call("/v1/users/alice/kv", { token: bearer })).body.error.code).toBe("token_not_yet_valid");
  });
});

it.each([
  ["jti", "not a string of 1 to 256 bytes", { jti: 7 }],
  ["jti", "not a string of 1 to 256 bytes", { jti: "" }],
  ["jti", "not a string of 1 to 256 bytes", { jti: "x".repeat(257) }],
  ["thread", "not the id of a thread", { thread: "nonsense" }],
  ["thread", "not the id of a thread", { thread: ["x"] }],
  ["shared", "ids that begin with 'shared:'", { shared: ["team"] }],
  ["sub", "not a user id", { sub: 7 }],
  ["sub", "not a user id", { sub: ".." }],
  ["sub", "is missing", { sub: undefined }],
  ["scope", "is missing", { scope: undefined }],
  ["scope", "spaces between the scopes", { scope: ["read"] }],
  ["scope", "spaces between the scopes", { scope: "read,write" }],
  ["exp", "is missing", { exp: undefined }],
  ["exp", "has a wrong type", { exp: "tomorrow" }],
  ["nbf", "has a wrong type", { nbf: "now" }],
])("names the claim %s of a token that is signed as it should be (%s)", async (name, reason, claims) => {
  const bearer = await signed(env.CAIRN_SECRET, claims);
  const { status, body } = await call("/v1/users/alice/kv", { token: bearer });
  expect([status, body.error.code]).toEqual([401, "invalid_token"]);
  expect(body.error.message).toContain(`\`${name}\``);
  expect(body.error.message).toContain(reason);
  // Who does not know the secret is told nothing of the claims.
  const forged = await call("/v1/users/alice/kv", { token: await signed(NEXT, claims) });
  expect(forged.body.error.message).toContain("not signed with this tenant's");
  expect(forged.body.error.message).toContain("npm run token -- --user ID");
});

describe("a token that ends in more than a hundred years", () => {
  const CENTURY = 36_525 * 86_400;

  it("is refused, as its end is in milliseconds: it would never end", async () => {
    for (const exp of [clock() + 1000, 99_999_999_999_999, 1e300, seconds() + CENTURY + 60]) {
      const { status, body } = await call("/v1/users/alice/kv", {
        token: await signed(env.CAIRN_SECRET, { exp }),
      });
      expect([status, body.error.code]).toEqual([401, "invalid_token"]);
      expect(body.error.message).toContain("`exp`");
      expect(body.error.message).toContain("in seconds");
    }
    const long = await signed(env.CAIRN_SECRET, { exp: seconds() + CENTURY - 60 });
    expect((await call("/v1/users/alice/kv", { token: long })).status).toBe(200);
  });
});

describe.each(ways)("a caller of one thread, $way", ({ ask: askAs }) => {
  const asked = ({ hasBody }: { hasBody: boolean }) => (hasBody ? { json: {} } : {});

  it("makes no other of it", async () => {
    const user = newUser();
    const thread = (await create(user)).id;
    const fork = await askAs(`/v1/threads/${thread}/fork`, { json: {} }, { user, thread });
    expect([fork.status, fork.body.error.code]).toEqual([403, "forbidden"]);
    expect(fork.body.error.message).toContain("a fork is another one");
  });

  it.each(within)("reaches $method $path of that thread, and of no other of its user", async (operation) => {
    const user = newUser();
    const [own, other] = [await create(user), await create(user)];
    await append(own.id, [say("hi")]);
    const request = { method: operation.method, ...asked(operation) };
    const ask = (threadId: string) =>
      askAs(pathOf(operation, { user, threadId }), request, { user, thread: own.id });
    expect((await ask(other.id)).status).toBe(403);
    expect([401, 403]).not.toContain((await ask(own.id)).status);
  });

  it.each(beyond)("is refused at $method $path", async (operation) => {
    const user = newUser();
    const { id: threadId } = await create(user);
    for (const sub of [user, "*"]) {
      const request = { method: operation.method, ...asked(operation) };
      const who = { user: sub, thread: threadId, shared: ["shared:team"] };
      const answer = await askAs(pathOf(operation, { user, threadId }), request, who);
      expect(answer.status).toBe(403);
      expect(answer.body.error.message).toContain("one thread only");
    }
  });

  it("does what its scopes allow and no more, and nothing in a thread that is not its user's", async () => {
    const user = newUser();
    const { id } = await create(user);
    const reader: Who = { user, thread: id, scope: ["read"] };
    const path = `/v1/threads/${id}/messages`;
    expect((await askAs(path, {}, reader)).status).toBe(200);
    expect((await askAs(path, { json: { messages: [say("hi")] } }, reader)).status).toBe(403);
    expect((await askAs(`/v1/threads/${id}`, {}, { user: newUser(), thread: id })).status).toBe(404);
  });
});

describe.each(pathWays)("a caller of one thread, $way", ({ ask: askAs }) => {
  it("is not led out of its thread by the way its path is written", async () => {
    const user = newUser();
    const [own, other] = [await create(user), await create(user)];
    for (const path of [
      `/v1/threads/${own.id}/../${other.id}`,
      `/v1/threads/${own.id}%2F..%2F${other.id}`,
      `/v1/threads/${own.id}x`,
      `//v1/threads/${other.id}`,
    ])
      // Over a binding, a path that begins with `//` is none.
      expect([400, 403, 404]).toContain((await askAs(path, {}, { user, thread: own.id })).status);
  });
});
