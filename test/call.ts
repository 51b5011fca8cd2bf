import { env, exports } from "cloudflare:workers";
import { clock, control } from "./doubles/control.ts";
import { type Scope, type TokenRequest, signToken, scopes } from "../src/domain/token.ts";

// Answers of every shape are read here; the schemas are what the tests check them against.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = { status: number; headers: Headers; body: any; text: string };
type Call = {
  method?: string;
  token?: string | null;
  json?: unknown;
  raw?: BodyInit;
  headers?: Record<string, string>;
};

let users = 0;
/** A user of one test's own, so that tests share nothing. */
export const newUser = (): string => `user-${++users}-${crypto.randomUUID()}`;

export const token = (
  user: string,
  scope: readonly Scope[] = scopes,
  ttlSeconds = 48 * 3600,
): Promise<string> => tokenWith({ user, scope, ttlSeconds });

/** A token that says more than whose it is. */
export const tokenWith = ({
  user,
  scope = scopes,
  ttlSeconds = 48 * 3600,
  ...more
}: TokenRequest & { ttlSeconds?: number }): Promise<string> =>
  signToken(env.CAIRN_SECRET, {
    sub: user,
    scope: scope.join(" "),
    jti: crypto.randomUUID(),
    exp: Math.floor(clock() / 1000) + ttlSeconds,
    iat: Math.floor(clock() / 1000),
    ...more,
  });

/** Calls the Worker over HTTP, with a token of the whole tenant unless another is given (null: none). */
export async function call(
  path: string,
  { method, token: given, json, raw, headers }: Call = {},
): Promise<Answer> {
  const bearer = given === undefined ? await token("*") : given;
  const body = json === undefined ? raw : JSON.stringify(json);
  const response = await exports.default.fetch(`https://cairn.test${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(bearer !== null && { Authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  // `text()` has workerd warn of each body that is not of a text's type.
  const text = new TextDecoder().decode(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body: parsed(text), text };
}

/** No list of the tests has so many pages. */
const MOST_PAGES = 1000;

let healths = 0;
/** The answer of /health as it is now: the Worker gives one for five seconds. */
export const health = (): Promise<Answer> => {
  control.clockAhead = Math.max(control.clockAhead, 5_000 * ++healths);
  return call("/health", { token: null });
};

/** Every page of a list. Throws where the cursors lead in a circle: a test would go on for ever. */
export async function* pages<Page extends { cursor?: string | undefined }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page, void> {
  const seen = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const page = await read(cursor);
    yield page;
    ({ cursor } = page);
    if (cursor === undefined) return;
    if (seen.has(cursor)) throw new Error(`the list gave the cursor ${cursor} twice`);
    if (seen.add(cursor).size > MOST_PAGES) throw new Error(`the list has more than ${MOST_PAGES} pages`);
  }
}

/** The bodies of every page of the list at this path. */
export const pagesOf = (path: string, options: Call = {}): AsyncGenerator<Answer["body"], void> =>
  pages(async (cursor) => {
    const after = cursor === undefined ? "" : `${path.includes("?") ? "&" : "?"}cursor=${cursor}`;
    return (await call(path + after, options)).body;
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
