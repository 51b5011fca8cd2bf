import { type Cairn, cairn, CairnError } from "edgecairn";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** What the page knows of the Worker before anybody signs in: `console/settings.json`. */
export type Settings = {
  version: string;
  issuer?: string;
  signIn?: SignInBy;
  /** True where a cookie may keep the session through a reload. */
  cookie?: true;
};
/** How people sign in for MCP. */
export type SignInBy = "codes" | "provider";

export type Session = {
  memory: Cairn;
  /** A call of the API whose body is a text: what is parsed and printed loses numbers that JavaScript does not have. */
  text: (method: string, path: readonly string[], call?: TextCall) => Promise<TextAnswer>;
  /** The token's user; `*` for all. */
  user: string;
  scopes: readonly string[];
  /** Milliseconds since the epoch. */
  expiresAt: number | null;
  /** Undefined where nobody can. */
  signIn: SignInBy | undefined;
  /** Aborts with the reason when the cookie no longer keeps this session; undefined of a token, which the page holds. */
  over?: AbortSignal;
};

export type TextCall = {
  query?: Readonly<Record<string, string>>;
  body?: string;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
};
/** `version`: of the value, from the header `ETag`. */
export type TextAnswer = { text: string; version: string };

/** The Worker's address, with the path that it is mounted under. */
export const address = (): string => location.origin + location.pathname.replace(/\/console\/?$/, "");

type Send = (request: Request) => Promise<Response>;
const justFetch: Send = (request) => fetch(request);

/** Calls the Worker. Rejects with the client's code if nothing answers. */
export async function reach(path: string, init: RequestInit, send = justFetch): Promise<Response> {
  try {
    return await send(new Request(address() + path, init));
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw new CairnError({ code: "network", message: "no answer" }, { status: 0, cause, call: path });
  }
}

/** Throws an `Error` with words for the user, if the text is no token that the page takes. */
export function sessionOf(token: string, { issuer, signIn }: Settings): Session {
  const { sub, scope, exp, iss } = claimsOf(token.trim());
  if (typeof sub !== "string") throw new Error("The token names no user (`sub`).");
  if (issuer !== undefined && iss !== issuer)
    throw new Error(`This console takes logins of ${issuer} only, and the token is not one.`);
  const expiresAt = typeof exp === "number" ? exp * 1000 : null;
  if (expiresAt !== null && expiresAt <= Date.now()) throw new Error("The token has expired.");
  const scopes = typeof scope === "string" ? scope.split(" ") : [];
  return { ...callsWith(token.trim()), user: sub, scopes, expiresAt, signIn };
}

function callsWith(token: string, send = justFetch): Pick<Session, "memory" | "text"> {
  return {
    memory: cairn({ url: address(), token, fetch: send }),
    text: (method, path, call) => textCall({ token, send, method, path, ...call }),
  };
}

/** The session that the cookie keeps; null if there is none, or the browser cannot say which page calls. */
export async function keptSession(settings: Settings, signal: AbortSignal): Promise<Session | null> {
  const answer = await reach(COOKIE, { signal });
  return answer.status === 403 ? null : byCookie(answer, "GET", settings);
}

/** A session, and why no cookie keeps it; null where one does, or none is to. */
type Opened = { session: Session; unkept: unknown };

/**
 * Opens the session of a token. Has the cookie keep it, where there is one: then no script of the page can read the token. Else the page
 * holds the token itself, since the code of a link counts only once. Rejects if the token does not count.
 */
export async function openSession(token: string, settings: Settings): Promise<Opened> {
  const session = sessionOf(token, settings);
  if (settings.cookie !== true) return { session, unkept: null };
  try {
    const headers = { Authorization: `Bearer ${token.trim()}` };
    const answer = await reach(COOKIE, { method: "PUT", headers });
    return { session: (await byCookie(answer, "PUT", settings)) ?? session, unkept: null };
  } catch (error) {
    if (error instanceof CairnError && error.status === 401) throw error;
    // A reload should not bring back whoever the cookie is of. The page says that it may.
    await dropCookie().catch(() => {});
    return { session, unkept: error };
  }
}

export async function dropCookie(): Promise<void> {
  const answer = await reach(COOKIE, { method: "DELETE" });
  if (!answer.ok) throw await refusalOf(answer, `DELETE ${COOKIE}`);
}

const COOKIE = "/console/session";

async function byCookie(answer: Response, method: string, { signIn }: Settings): Promise<Session | null> {
  if (!answer.ok) throw await refusalOf(answer, `${method} ${COOKIE}`);
  const { session } = (await answer.json()) as {
    session: (Pick<Session, "user" | "scopes" | "expiresAt"> & { bearer: string }) | null;
  };
  if (session === null) return null;
  const { bearer, user, scopes, expiresAt } = session;
  const over = new AbortController();
  const send: Send = async (request) => {
    const of = await fetch(request);
    if (of.status === 401) over.abort(await refusalOf(of.clone(), request.method));
    return of;
  };
  // The bearer stands for the token, which the browser sends in the cookie.
  return { ...callsWith(bearer, send), user, scopes, expiresAt, signIn, over: over.signal };
}

type Refusal = ConstructorParameters<typeof CairnError>[0];

async function refusalOf(answer: Response, call: string): Promise<CairnError> {
  const { status } = answer;
  // A proxy's page is no JSON.
  const { error }: { error?: Refusal } = await answer.json().catch(() => ({}));
  const none = {
    code: "no_envelope",
    message: `HTTP ${status}: the answer does not come from Cairn`,
  } as const;
  return new CairnError(error ?? none, { status, call });
}

/** Rejects with `CairnError`, as the client does. */
async function textCall({
  token,
  send,
  method,
  path,
  query = {},
  body,
  headers = {},
  signal,
}: TextCall & {
  token: string;
  send: Send;
  method: string;
  path: readonly string[];
}): Promise<TextAnswer> {
  const search = new URLSearchParams(query).toString();
  const call = `/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
  const init = {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  };
  const answer = await reach(call, init, send);
  if (!answer.ok) throw await refusalOf(answer, `${method} ${call}`);
  return { text: await answer.text(), version: answer.headers.get("ETag") ?? "" };
}

/** The claims, unverified: the server verifies them with each call. */
function claimsOf(token: string): Record<string, unknown> {
  try {
    const [, payload = ""] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (c) =>
      c.charCodeAt(0),
    );
    return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    throw new Error("This is not a token: a token has three parts with dots between them.");
  }
}

const KEY = "cairn-token";

/** What a link signs in with: a token (`#token=…`), or a code that Cairn exchanges for one, once (`#code=…`). */
export type Link = { kind: "token" | "code"; value: string };

/** The link that the address is, which is then taken out of it. */
export function givenLink(): Link | null {
  const [, kind, value] = /^#(token|code)=([^&]+)$/.exec(location.hash) ?? [];
  if (value === undefined) return null;
  history.replaceState(null, "", `${location.pathname}#/`);
  return { kind: kind === "code" ? "code" : "token", value };
}

/** The token that this tab keeps. */
export const keptToken = (): string | null => sessionStorage.getItem(KEY);

/** Whose link it is, unverified; null if it does not say. */
export function userOf({ value }: Link): string | null {
  try {
    const { sub } = claimsOf(value);
    return typeof sub === "string" ? sub : null;
  } catch {
    return null;
  }
}

/** The token of a link. Rejects with `CairnError`: a code was used before, or is too old. */
export async function tokenOf({ kind, value }: Link): Promise<string> {
  if (kind === "token") return value;
  const answer = await reach("/console/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code: value }),
  });
  if (!answer.ok) throw await refusalOf(answer, "POST /console/session");
  const { token } = (await answer.json()) as { token: string };
  return token;
}

/** Keeps the token until the tab is closed. Without this, a reload of the page forgets it. */
export const keepToken = (token: string): void => sessionStorage.setItem(KEY, token);
export const forgetToken = (): void => sessionStorage.removeItem(KEY);

const Current = createContext<Session | null>(null);
export const SessionProvider = Current.Provider;

export function useSession(): Session {
  const session = useContext(Current);
  if (session === null) throw new Error("a page of the console is shown without a session");
  return session;
}

/** True if the token allows it; the server decides. */
export const may = ({ scopes }: Session, scope: "read" | "write" | "cache" | "admin"): boolean =>
  scopes.includes(scope);
