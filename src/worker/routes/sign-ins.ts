import { CODE_MS, mintCode } from "../../domain/console-link.ts";
import { fail } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { type SignIn, SignInCode, SignInList, signInPath } from "../../domain/schema/sign-in.ts";
import { isShared } from "../../domain/token.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { StoredSignIn } from "../../platform/d1/sign-ins.ts";
import { NO_STORE } from "../http/answer.ts";
import { json, noBody, nothing, route } from "../http/describe.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { ofUser } from "../http/owner.ts";
import { newRouter } from "../http/router.ts";
import type { SignInMetadata } from "../sign-in/sign-in.ts";

const ofOneUser = { ...ofUser, isOwnOnly: true } as const;

const list = route("get", "/v1/users/{user}/sign-ins", {
  operationId: "listSignIns",
  summary: "List the apps that a user signed in with for MCP",
  scope: "read",
  owner: ofOneUser,
  request: { params: userPath },
  responses: { 200: json(SignInList, "The sign-ins, newest first: 50 at most.") },
});

const revoke = route("delete", "/v1/users/{user}/sign-ins/{id}", {
  operationId: "revokeSignIn",
  summary: "End a sign-in, with all of its tokens",
  description: "Its tokens are refused everywhere within 30 seconds.",
  scope: "write",
  owner: ofOneUser,
  request: { params: signInPath },
  responses: { 204: nothing("There is no such sign-in any more.") },
});

const code = route("post", "/v1/users/{user}/sign-in-codes", {
  operationId: "createSignInCode",
  summary: "Create a one-time code by which a user signs in for MCP",
  description:
    "Works once, for ten minutes, where SIGN_IN is `codes`. It gives no scope that your token lacks. Give it to that user only.",
  scope: "admin",
  owner: ofOneUser,
  request: { params: userPath, body: noBody },
  responses: { 201: json(SignInCode, "The code.") },
});

const shown = ({ id, clientId, scope, metadata, createdAt, expiresAt }: StoredSignIn): SignIn => {
  // It was written by this Worker.
  const { name, domain, redirectHost } = metadata as SignInMetadata;
  const app = { id: clientId, name, ...(domain !== undefined && { domain }), redirectHost };
  return { id, app, scopes: scope, createdAt, expiresAt };
};

export const signIns = newRouter("access")
  .openapi(list, async (c) => {
    const { signIns: stored, now } = c.get("services");
    const user = await userHash(c.req.valid("param").user);
    return c.json({ items: unwrap(await d1Result(() => stored.list(user, now()))).map(shown) }, 200);
  })
  .openapi(revoke, async (c) => {
    const { user, id } = c.req.valid("param");
    const hash = await userHash(user);
    const { signIns: stored, signIn } = c.get("services");
    c.set("about", id);
    unwrap(await d1Result(() => stored.revoke(hash, id)));
    signIn?.forget();
    return c.body(null, 204);
  })
  .openapi(code, async (c) => {
    const { user } = c.req.valid("param");
    const { signIn, secret = "", now } = c.get("services");
    if (signIn === null || signIn.provider !== null) throw new Refusal(NO_CODES);
    if (user === "*" || isShared(user)) throw new Refusal(NOT_A_PERSON);
    const { scopes } = c.get("caller");
    const scope = signIn.settings.scopes.filter((one) => scopes.has(one));
    if (scope.length === 0) throw new Refusal(NOTHING_TO_GIVE);
    const minted = await mintCode(secret, { user, scope, opens: "mcp" }, now());
    return c.json({ code: minted, expiresAt: now() + CODE_MS }, 201, NO_STORE);
  });

const NO_CODES = fail("not_configured", {
  message: "People do not sign in by codes here: SIGN_IN is not set to `codes`.",
});
const NOTHING_TO_GIVE = fail("forbidden", {
  message: "A code gives no scope that its maker lacks: this call needs `read` or `write` too.",
});
const NOT_A_PERSON = fail("invalid_request", {
  details: [{ path: "path.user", message: "is not one person" }],
});
