import type { AuthRequest, ConsentDescription, OAuthHelpers } from "@cloudflare/workers-oauth-provider";
import type { Context, Handler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ErrorCode, errors } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { isShared } from "../../domain/token.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import { SignInChanged, SignInsUnavailable } from "../../platform/d1/sign-ins.ts";
import { spendCode } from "../auth/console-code.ts";
import { NO_STORE } from "../http/answer.ts";
import { writeAuditEvent } from "../http/audit.ts";
import type { AppEnv } from "../http/context.ts";
import { signInAt } from "../http/sign-in-at.ts";
import { answerFailure, codeOfUnexpected, Refusal, unwrap } from "../http/failure.ts";
import { bytesOf } from "../http/json-body.ts";
import { nobody } from "../http/owner.ts";
import { countAddress, countStored } from "../http/rates.ts";
import { newRouter, undocumented } from "../http/router.ts";
import { consentPage, refusalPage } from "../sign-in/pages.ts";
import type { AtProvider } from "../sign-in/identity-provider.ts";
import {
  grantOf,
  library,
  PATHS,
  resourceAt,
  type Server,
  type SignInServer,
  type SignInMetadata,
  type StoreEnv,
} from "../sign-in/sign-in.ts";

type C = Context<AppEnv>;
/** The sign-in of one request. */
type Visit = Pick<SignInServer, "settings" | "provider"> & {
  server: Server;
  env: StoreEnv;
  oauth: OAuthHelpers;
  origin: string;
};
type Serve = (c: C, visit: Visit) => Promise<Response>;

/** The sign-in for MCP: OAuth 2.1 as the protocol's revision 2026-07-28 has it. */
export const signIn = newRouter();

/** Adds a route that is there only where people can sign in. */
const serve = (method: "get" | "post", path: string, answer: Serve): void => {
  const handler: Handler<AppEnv> = async (c) => {
    const here = signInAt(c);
    if (here === null) return answerFailure(c, { code: "route_not_found" });
    const { origin, signIn: by } = here;
    const server = await by.server(origin);
    const env = by.env(c.get("services").signIns);
    const { settings, provider } = by;
    return answer(c, { origin, settings, provider, server, env, oauth: server.getOAuthApi(env) });
  };
  undocumented(signIn, { method, path, scope: "open", owner: nobody }, handler);
};

/** What a page or an endpoint says of an error, and its status. `code`: for the trace. */
type Refused = { status: number; reason: string; code?: ErrorCode };

async function refusalOf(c: C, error: unknown): Promise<Refused> {
  const { AuthorizationError, CimdFetchError } = await library();
  if (error instanceof Refusal) {
    const { code, message } = error.failure;
    return { code, status: errors[code][0], reason: message ?? errors[code][1] };
  }
  if (error instanceof AuthorizationError) return { status: 400, reason: error.description };
  if (error instanceof CimdFetchError)
    return { status: 400, reason: "The app's description of itself could not be read at its address." };
  if (error instanceof SignInChanged)
    return { status: 400, reason: "This sign-in was used already, or has ended meanwhile." };
  const unexpected = codeOfUnexpected(error, c.get("requestId"));
  const isStore = error instanceof SignInsUnavailable && unexpected === "internal";
  const code: ErrorCode = isStore ? "storage_unavailable" : unexpected;
  return { code, status: errors[code][0], reason: errors[code][1] };
}

/** A page that cannot be answered tells why. It never sends the browser on: nobody has checked where to. */
const asPage =
  (answer: Serve): Serve =>
  async (c, visit) => {
    try {
      await countAddress(c);
      return await answer(c, visit);
    } catch (error) {
      const { status, reason, code = "invalid_request" } = await refusalOf(c, error);
      c.set("failure", code);
      return refuse(c, status, reason);
    }
  };

function refuse(c: C, status: number, reason: string): Response | Promise<Response> {
  if (status === 503) c.header("Retry-After", "5");
  return c.html(refusalPage(reason), status as ContentfulStatusCode, NO_STORE);
}

const redirect = (headers: Headers, to: string): Response => {
  headers.set("Location", to);
  return new Response(null, { status: 302, headers });
};

const LONG_REQUEST = `The app asks with more than ${limits.signInRequest} characters.`;

async function askForConsent(c: C, visit: Visit, problem?: string): Promise<Response> {
  const { oauth, settings, provider } = visit;
  await countStored(c, "page");
  if (new URL(c.req.url).search.length > limits.signInRequest) return refuse(c, 400, LONG_REQUEST);
  const request = await oauth.parseAuthRequest(new Request(c.req.url));
  if (request.codeChallenge === undefined || request.codeChallengeMethod !== "S256")
    return refuse(c, 400, "The app must use PKCE with the method S256.");
  const up = await provider?.isUp();
  if (up?.ok === false) throw new Refusal(up);
  const details = await describeApp(oauth, request);
  const { handle, headers } = await oauth.beginConsent(request);
  for (const [name, value] of headers) c.header(name, value, { append: name === "set-cookie" });
  const host = settings.provider === null ? null : new URL(settings.provider.issuer).host;
  const content = consentPage({ details, handle, offered: settings.scopes, provider: host, problem });
  return c.html(content, problem === undefined ? 200 : 400);
}

serve("get", PATHS.authorize, asPage(askForConsent));

/** Characters of an app's name: it is free to choose it. */
const NAME_CHARACTERS = 100;

async function describeApp(oauth: OAuthHelpers, request: AuthRequest): Promise<ConsentDescription> {
  const details = await oauth.describeConsent(request);
  // A mark of direction would turn the words around the name.
  const name = details.clientName.slice(0, NAME_CHARACTERS).replaceAll(/\p{C}/gu, "").trim();
  return { ...details, clientName: name || details.clientId };
}

serve(
  "post",
  PATHS.authorize,
  asPage(async (c, visit) => {
    const { oauth, provider } = visit;
    const form = await formOf(c);
    const handle = form.get("handle") ?? "";
    if (form.get("decision") !== "allow") {
      const { headers, redirectTo } = await oauth.denyConsent(c.req.raw, handle);
      return redirect(headers, redirectTo);
    }
    const scope = form.getAll("scope");
    if (scope.length === 0) return askForConsent(c, visit, "Allow one thing at least, or deny.");
    const up = await provider?.isUp();
    if (up?.ok === false) throw new Refusal(up);
    const { request, headers } = await oauth.approveConsent(c.req.raw, handle, { scope });
    if (provider !== null) {
      const visited = provider.newVisit();
      const { state } = await oauth.beginUpstream(request, { data: visited, headers });
      const address = await provider.addressOf(visited, { state, callback: callbackOf(visit) });
      if (!address.ok) throw new Refusal(address);
      return redirect(headers, address.value);
    }
    const { secret = "", revocations, revoked, now } = c.get("services");
    const code = (form.get("code") ?? "").trim();
    const spent = unwrap(await d1Result(() => spendCode(code, "mcp", { secret, revocations, revoked, now })));
    if (!spent.ok) {
      if (errors[spent.code][0] >= 500) throw new Refusal(spent);
      return askForConsent(c, visit, WRONG_CODE);
    }
    const { user, scopes } = spent.value;
    const allowed = request.scope.filter((one) => scopes.has(one));
    if (allowed.length === 0) return askForConsent(c, visit, NOTHING_IN_COMMON);
    return finish(c, visit, { request: { ...request, scope: allowed }, headers, user });
  }),
);

const WRONG_CODE =
  "This is no code of this Cairn, or it was used before, or is older than ten minutes. Ask for another one.";
const NOTHING_IN_COMMON = "This code allows nothing of that, and is used up. Ask for another one.";

const callbackOf = ({ origin }: Visit): string => `${origin}${PATHS.callback}`;

serve(
  "get",
  PATHS.callback,
  asPage(async (c, visit) => {
    const { oauth, provider } = visit;
    if (provider === null) return refuse(c, 404, "This deployment has no identity provider.");
    const { authorizationErrorRedirect } = await library();
    const { request, data, headers } = await oauth.finishUpstream<AtProvider>(c.req.raw);
    // The person has allowed the app: it may be told.
    const tell = (code: "access_denied" | "temporarily_unavailable", reason: string) =>
      redirect(headers, authorizationErrorRedirect(request, code, reason));
    const code = c.req.query("code");
    if (c.req.query("error") !== undefined || code === undefined)
      return tell("access_denied", "The identity provider did not sign the person in.");
    const user = await provider.userOf(code, data, callbackOf(visit));
    if (user.ok) return finish(c, visit, { request, headers, user: user.value });
    return errors[user.code][0] >= 500
      ? tell("temporarily_unavailable", errors[user.code][1])
      : tell("access_denied", user.message ?? errors[user.code][1]);
  }),
);

type Approved = { request: AuthRequest; headers: Headers; user: string };

/** Stores the grant, and sends the browser back to the app with its code. */
async function finish(
  c: C,
  { oauth, origin }: Visit,
  { request, headers, user }: Approved,
): Promise<Response> {
  // Neither stands for one person.
  if (user === "*" || isShared(user)) return refuse(c, 403, "A person signs in as one user.");
  const { clientName, clientDomain, redirectHost } = await describeApp(oauth, request);
  const domain = clientDomain && { domain: clientDomain };
  const metadata: SignInMetadata = { name: clientName, ...domain, redirectHost };
  const { redirectTo } = await oauth.completeAuthorization({
    request: { ...request, resource: resourceAt(origin) },
    userId: await userHash(user),
    metadata,
    scope: request.scope,
    props: { user, at: c.get("services").now() },
    // The same app on another device keeps its own.
    revokeExistingGrants: false,
  });
  const code = new URL(redirectTo).searchParams.get("code") ?? "";
  const caller = { user, scopes: new Set(request.scope), shared: new Set<string>(), tokenId: grantOf(code) };
  c.set("caller", caller);
  writeAuditEvent(c, { action: "sign-in.granted", outcome: "ok", user });
  return redirect(headers, redirectTo);
}

/** The fields of a form. */
async function formOf(c: C): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await bytesOf(c.req.raw, limits.signInBody)));
}

/** An endpoint of the library: for programs. */
const asEndpoint =
  (count: (c: C) => Promise<void>): Serve =>
  async (c, { server, env }) => {
    try {
      await count(c);
      const { method, url } = c.req;
      const headers = new Headers(c.req.raw.headers);
      // CORS is for CORS_ORIGINS alone.
      headers.delete("Origin");
      const body = method === "POST" ? await bytesOf(c.req.raw, limits.signInBody) : undefined;
      const request = new Request(url, { method, headers, ...(body && { body }) });
      const answer = await server.fetch(request, env, NO_CONTEXT);
      return new Response(answer.body, answer);
    } catch (error) {
      // A refresh of another call was first: this one may come again.
      if (error instanceof SignInChanged) return unavailable(c, 503, "Another call changed the sign-in.");
      const { status, reason, code = "invalid_request" } = await refusalOf(c, error);
      c.set("failure", code);
      return unavailable(c, status, reason);
    }
  };

function unavailable(c: C, status: number, description: string): Response {
  if (status === 503) c.header("Retry-After", "2");
  const error = status >= 500 || status === 429 ? "temporarily_unavailable" : "invalid_request";
  return c.json({ error, error_description: description }, status as ContentfulStatusCode, NO_STORE);
}

/** The library waits for all that it does. */
const NO_CONTEXT = {
  waitUntil: () => {},
  passThroughOnException: () => {},
  props: {},
} as unknown as ExecutionContext;

serve("get", PATHS.server, asEndpoint(countAddress));
serve("post", PATHS.token, asEndpoint(countAddress));
serve(
  "post",
  PATHS.register,
  asEndpoint(async (c) => {
    await countAddress(c);
    await countStored(c, "register");
  }),
);

/** The description of the resource (RFC 9728). */
const describeResource: Serve = async (c, { origin, settings }) =>
  c.json({
    resource: resourceAt(origin),
    authorization_servers: [origin],
    scopes_supported: settings.scopes,
    bearer_methods_supported: ["header"],
    resource_name: "Cairn memory",
  });
serve("get", `${PATHS.resource}/mcp`, describeResource);
serve("get", PATHS.resource, describeResource);
