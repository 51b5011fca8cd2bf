import { isLocation, locations } from "../../../src/domain/location.ts";
import { type OptionNames, requireKnownOptions } from "./known-options.ts";
import type { CairnOptions, ReadOptions } from "./options.ts";

const OPTIONS: OptionNames<ReadOptions> = {
  url: true,
  fetch: true,
  token: true,
  binding: true,
  namespace: true,
  location: true,
  trust: true,
  attemptMs: true,
  longAttemptMs: true,
  retry: { attempts: true, withinMs: true },
  largeNumbers: true,
  waitUntil: true,
  onLaterError: true,
};

/**
 * Throws a `TypeError` for options of `cairn` that are missing, wrong or unknown. The most common cause is an environment
 * variable that is not set or has another name.
 */
export function requireCairnOptions(options: CairnOptions): void {
  // JavaScript callers are not type-checked, and an environment is typed by hand.
  const given: Given = options ?? {};
  requireKnownOptions("cairn", given, OPTIONS);
  const { binding, retry, attemptMs, longAttemptMs, largeNumbers, location } = given;
  if ("binding" in given) requireBindingAlone(given);
  if (binding === undefined) requireAddress(given);
  if (retry !== undefined && retry !== false && (typeof retry !== "object" || retry === null))
    throw new TypeError("cairn: `retry` must be an object of options, or false");
  if (location !== undefined && !isLocation(location))
    throw new TypeError(`cairn: \`location\` must be one of ${locations.join(", ")}`);
  if (largeNumbers !== undefined && largeNumbers !== "text")
    throw new TypeError('cairn: `largeNumbers` must be "text", or left out');
  requireMilliseconds("cairn", { attemptMs, longAttemptMs });
}

type Given = Partial<Record<keyof ReadOptions, unknown>>;

function requireAddress({ url, fetch, token }: Given): void {
  if (url !== undefined && !isHttpUrl(url))
    throw new TypeError(`cairn: \`url\` is ${JSON.stringify(url)}, not a URL like "https://example.com"`);
  if (url === undefined && (fetch === undefined || fetch === null))
    throw new TypeError("cairn: `url` is missing, and there is no `fetch` in its place");
  if (typeof token !== "function") requireToken(token);
}

/** The most common cause is a binding that wrangler.toml names otherwise. */
function requireBindingAlone({ binding, ...others }: Given): void {
  const beside = (["url", "fetch", "token"] as const).filter((name) => others[name] !== undefined);
  if (binding === undefined && beside.length > 0) return;
  if (binding === null || (typeof binding !== "object" && typeof binding !== "function"))
    throw new TypeError("cairn: `binding` is missing: pass the service binding, such as `env.MEMORY`");
  if (beside.length > 0)
    throw new TypeError(`cairn: \`${beside[0]}\` does not go with \`binding\`, whose props say who calls`);
  // Each service binding has all names as methods, unless its Worker's compatibility date is before RPC.
  if (binding !== undefined && typeof Object(binding).call !== "function")
    throw new TypeError(
      "cairn: `binding` has no method `call`: pass the service binding, such as `env.MEMORY`",
    );
}

/** Throws a `TypeError` for a limit that is no time. Without the check, a limit of `NaN` would end every call at once. */
export function requireMilliseconds(made: string, limits: Record<string, unknown>): void {
  for (const [name, ms] of Object.entries(limits))
    if (ms !== undefined && !(typeof ms === "number" && ms > 0))
      throw new TypeError(`${made}: \`${name}\` must be a number of milliseconds above 0`);
}

/** Throws a `TypeError` for a token that no header can carry. Its message never contains the token. */
export function requireToken(token: unknown): asserts token is string {
  if (typeof token !== "string" || token === "")
    throw new TypeError("cairn: `token` is missing: pass a token, or a function that returns one");
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new TypeError(
      "cairn: `token` is not a token: it holds a space, a line break or a character beyond ASCII",
    );
}

function isHttpUrl(url: unknown): boolean {
  try {
    return /^https?:$/.test(new URL(String(url)).protocol);
  } catch {
    return false;
  }
}
