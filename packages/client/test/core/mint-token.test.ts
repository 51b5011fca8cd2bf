// Tokens that the package mints: what is refused before it is signed. The Worker takes them in every other test.
import { decodeJwt } from "jose";
import { expect, it } from "vitest";
import { mintToken, type TokenRequest } from "../../src/index.ts";

const SECRET = "a secret of the tests, of 32 bytes or more";

it("reads, writes and caches for an hour unless asked otherwise", async () => {
  const { iat = 0, exp, jti, ...claims } = decodeJwt(await mintToken(SECRET, { user: "alice" }));
  expect(claims).toEqual({ sub: "alice", scope: "read write cache" });
  expect(exp).toBe(iat + 3600);
  expect(jti).toMatch(/^[0-9a-f-]{36}$/);
});

const thread = "_tMu5oap7qlyJcGQUM9Qww.01a20666-e8f6-74de-be0b-27c45e4a9fb1";

it("says what was asked of it", async () => {
  const request: TokenRequest = {
    user: "zoë",
    scope: ["cache"],
    ttlMs: 60_000,
    shared: ["shared:team"],
    thread,
  };
  const { iat = 0, exp, jti, ...claims } = decodeJwt(await mintToken(SECRET, request));
  expect(claims).toEqual({ sub: "zoë", scope: "cache", shared: ["shared:team"], thread });
  expect(exp).toBe(iat + 60);
  expect(jti).not.toBe(decodeJwt(await mintToken(SECRET, request)).jti);
});

const given = (request: object): TokenRequest => request as TokenRequest;
it.each<[string, string, TokenRequest]>([
  ["secret", "too short", { user: "a" }],
  ["user", SECRET, given({})],
  ["user", SECRET, { user: "" }],
  ["user", SECRET, { user: "é".repeat(129) }],
  ["scope", SECRET, { user: "a", scope: [] }],
  ["scope", SECRET, given({ user: "a", scope: ["reed"] })],
  ["scope", SECRET, given({ user: "a", scope: "read" })],
  ["ttlMs", SECRET, { user: "a", ttlMs: 0 }],
  ["ttlMs", SECRET, { user: "a", ttlMs: Number.NaN }],
  ["ttlMs", SECRET, { user: "a", ttlMs: 1e15 }],
  ["shared", SECRET, { user: "a", shared: ["team"] }],
  ["thread", SECRET, { user: "a", thread: "" }],
  ["thread", SECRET, { user: "a", thread: "nonsense" }],
  ["thread", SECRET, given({ user: "a", thread: null })],
  ["ttlMs", SECRET, given({ user: "a", ttlMs: "5000" })],
  ["secret", null as never, { user: "a" }],
])("refuses a wrong %s", async (name, secret, request) => {
  await expect(mintToken(secret, request)).rejects.toThrow(new RegExp(`^mintToken: .*${name}`));
});

it.each([
  ["scopes", "scope", { user: "a", scopes: ["read"] }],
  ["ttl", "ttlMs", { user: "a", ttl: "1h" }],
  ["threads", "thread", { user: "a", threads: "t" }],
])("refuses the unknown field %s, which would make the token wider", async (unknown, name, request) => {
  const refused = mintToken(SECRET, given(request));
  await expect(refused).rejects.toThrow(`mintToken: \`${unknown}\` is not an option; `);
  await expect(refused).rejects.toThrow(`\`${name}\``);
});

it("names what is missing where a JavaScript caller gives no request", async () => {
  // @ts-expect-error from JavaScript
  await expect(mintToken(SECRET)).rejects.toThrow("mintToken: `user`");
});
