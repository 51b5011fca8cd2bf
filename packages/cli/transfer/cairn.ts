// The calls of export and import, with their retries.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { isLocation, type Location, locations } from "#domain/location.ts";

/** The wait before each retry, in milliseconds. */
const AGAIN_MS = [500, 2_000, 10_000, 30_000];

/** A reason that the person at the terminal can do something about. */
export class CannotGoOn extends Error {
  override readonly name = "CannotGoOn";
}

/** Nobody answers: to ask for the next thing would not help. */
export class Unreachable extends CannotGoOn {}

/** `location`: where an import creates the objects of new users. */
export type Cairn = { url: string; token: string; location?: Location };

/** One call; what failed on the way, or with a status that passes, is tried again. Rejects with what Cairn says. */
export async function ask(
  { url, token, location }: Cairn,
  path: string,
  request: { method?: string; body?: Uint8Array<ArrayBuffer>; type?: string } = {},
): Promise<Response> {
  const { method = "GET", body, type } = request;
  for (const wait of [...AGAIN_MS, null]) {
    const answer = await fetch(`${url.replace(/\/+$/, "")}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(type !== undefined && { "Content-Type": type }),
        ...(location !== undefined && { "Cairn-Location": location }),
      },
      ...(body !== undefined && { body }),
    }).catch((error: unknown) => new Unreachable(`No answer from ${url}: ${reasonOf(error)}`));
    if (answer instanceof Response && answer.ok) return answer;
    const passes = !(answer instanceof Response) || answer.status === 429 || answer.status >= 500;
    if (passes && wait !== null) {
      if (answer instanceof Response) await answer.body?.cancel();
      await sleep(wait);
      continue;
    }
    throw answer instanceof Response
      ? new CannotGoOn(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
      : answer;
  }
  throw new CannotGoOn("no answer");
}

/** Asks whether anybody is there at all: where the URL is wrong, that is known at once. */
export async function connect({ url }: Cairn): Promise<void> {
  const answer = await fetch(`${url.replace(/\/+$/, "")}/health`).catch((error: unknown) => {
    throw new Unreachable(`Cannot connect to ${url}: ${reasonOf(error)}`);
  });
  await answer.body?.cancel();
}

/** The reason of a failed fetch, which is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || ("code" in cause ? String(cause.code) : error.message);
}

type User = { userId: string; userHash: string };

/** All users of the tenant. */
export async function* allUsers(cairn: Cairn): AsyncGenerator<User, void> {
  for (let cursor: string | undefined = ""; cursor !== undefined;) {
    const path: string = `/v1/users?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = (await (await ask(cairn, path)).json()) as { items: User[]; cursor?: string };
    yield* page.items;
    ({ cursor } = page);
  }
}

/** One after another, past those that cannot be done, each of which is named. Answers how many those are. */
export async function pastFailures<T>(
  items: Iterable<T> | AsyncIterable<T>,
  act: (item: T) => Promise<void>,
): Promise<number> {
  let failed = 0;
  for await (const item of items)
    try {
      await act(item);
    } catch (error) {
      if (!(error instanceof CannotGoOn) || error instanceof Unreachable) throw error;
      console.error(error.message);
      failed++;
    }
  return failed;
}

export const userPath = (user: string): string => `/v1/users/${encodeURIComponent(user)}`;

/** Ends the program with what is wrong and how it is used. */
export function refuse(reason: string, usage: string): never {
  console.error(`${reason}\n\n${usage}`);
  process.exit(2);
}

/** The options of every command. */
const SHARED = { url: { type: "string" }, token: { type: "string" }, help: { type: "boolean" } } as const;

/** The options that were given: these, and the shared ones. */
export function optionsOf<const Options extends ParseArgsOptionsConfig>(options: Options, usage: string) {
  try {
    return parseArgs({ options: { ...SHARED, ...options } }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
}

/** The URL, the token and the location that were given, or what is missing. */
export function cairnOf(given: { url?: string; token?: string; location?: string }, usage: string): Cairn {
  const { location } = given;
  const token = given.token ?? process.env.CAIRN_TOKEN;
  const url = given.url ?? process.env.CAIRN_URL;
  if (url === undefined || url === "")
    refuse("--url, or CAIRN_URL, is required: the address of Cairn.", usage);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    refuse(`--url: '${url}' is not a URL like http://localhost:8787.`, usage);
  if (token === undefined || token === "") refuse("--token, or CAIRN_TOKEN, is required.", usage);
  if (location !== undefined && !isLocation(location))
    return refuse(`--location: '${location}' is none of ${locations.join(", ")}.`, usage);
  return { url, token, ...(location !== undefined && { location }) };
}

/** Runs the program; says what went wrong in one line where that can be helped. */
export async function run(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof CannotGoOn)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
