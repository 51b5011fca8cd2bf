import { mintConsoleCode } from "#domain/console-link.ts";
import type { Scope } from "#domain/token.ts";

/** A link to the console that works once, within ten minutes. The code is in the fragment, which no browser sends. */
export const consoleLink = async (
  url: string,
  secret: string,
  who: { user: string; scope: readonly Scope[] },
): Promise<string> =>
  `${url.replace(/\/+$/, "")}/console#code=${await mintConsoleCode(secret, who, Date.now())}`;
