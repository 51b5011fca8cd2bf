// What export and import say to a Cairn, and how often they say it again.
import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait before each further try. */
const AGAIN_MS = [500, 2_000, 10_000, 30_000];

/** A reason that the person at the terminal can do something about. */
export class CannotGoOn extends Error {
  override readonly name = "CannotGoOn";
}

export type Cairn = { url: string; token: string };

/** One call; what failed on the way, or with a status that passes, is tried again. Rejects with what Cairn says. */
export async function ask(
  { url, token }: Cairn,
  path: string,
  request: { method?: string; body?: Uint8Array<ArrayBuffer>; type?: string } = {},
): Promise<Response> {
  const { method = "GET", body, type } = request;
  for (const wait of [...AGAIN_MS, null]) {
    const answer = await fetch(`${url.replace(/\/+$/, "")}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(type !== undefined && { "Content-Type": type }) },
      ...(body !== undefined && { body }),
    }).catch((error: unknown) => new CannotGoOn(`No answer from ${url}: ${String(error)}`));
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

export const userPath = (user: string): string => `/v1/users/${encodeURIComponent(user)}`;

/** Ends the program with what is wrong and how it is used. */
export function refuse(reason: string, usage: string): never {
  console.error(`${reason}\n\n${usage}`);
  process.exit(2);
}

/** The URL and the token that were given, or what is missing. */
export function cairnOf(given: { url?: string; token?: string }, usage: string): Cairn {
  const token = given.token ?? process.env.CAIRN_TOKEN;
  if (given.url === undefined || !URL.canParse(given.url))
    refuse("--url is required: where Cairn runs.", usage);
  if (token === undefined || token === "") refuse("--token, or CAIRN_TOKEN, is required.", usage);
  return { url: given.url, token };
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
