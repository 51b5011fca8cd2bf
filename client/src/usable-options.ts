import type { CairnOptions } from "./options.ts";

/**
 * The options as they are. Throws a `TypeError` that says what is missing or wrong: in a program, most often a variable of
 * the environment that is not set, or has another name.
 */
export function usable(options: CairnOptions): CairnOptions {
  // JavaScript gives anything, and so does an environment that is typed by hand.
  const { url, fetch, token } = (options ?? {}) as Record<keyof CairnOptions, unknown>;
  if (url !== undefined && !isAddress(url))
    throw new TypeError(`cairn: \`url\` is ${JSON.stringify(url)}, not a URL like "https://example.com"`);
  if (url === undefined && (fetch === undefined || fetch === null))
    throw new TypeError("cairn: `url` is missing, and so is a `fetch` that needs none");
  if (typeof token !== "function" && (typeof token !== "string" || token === ""))
    throw new TypeError("cairn: `token` is missing: a token, or a function that gives one");
  return options;
}

function isAddress(url: unknown): boolean {
  try {
    return /^https?:$/.test(new URL(String(url)).protocol);
  } catch {
    return false;
  }
}
