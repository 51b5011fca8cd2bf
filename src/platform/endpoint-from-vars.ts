import type { Endpoint } from "./endpoint-request.ts";

const LOCALHOST = /^(localhost|.+\.localhost|127\.0\.0\.1|\[::1\])$/;

/** The address `<prefix>_URL`, with `path` at its end, or its problem, which does not repeat it. */
export function endpointUrl(prefix: string, address = "", path = ""): URL | string {
  const url = URL.parse(address);
  if (url === null) return `${prefix}_URL is not a URL`;
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocalhost(url)))
    return `${prefix}_URL is not https (http is for localhost only)`;
  if (url.username !== "" || url.password !== "") return `${prefix}_URL holds a name or a password`;
  if (!url.pathname.endsWith(path)) url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
  return url;
}

export const isLocalhost = ({ hostname }: URL): boolean => LOCALHOST.test(hostname);

/**
 * An endpoint from the variables `<prefix>_URL` and `<prefix>_KEY`, or their problem. `url` is the base of the API or the whole
 * address, which ends with `path`. No message repeats the address or the key.
 */
export function endpointFromVars(
  { prefix, service, path }: { prefix: string; service: string; path: string },
  { url: address, key }: { url: string | undefined; key: string | undefined },
): Endpoint | string {
  const url = endpointUrl(prefix, address, path);
  if (typeof url === "string") return url;
  // `fetch` would refuse it in a message that repeats the key.
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    return `${prefix}_KEY is empty, or has characters that a header cannot hold`;
  return {
    service,
    url,
    ...(key !== undefined && { key }),
    fetch: (target, init) => fetch(target, init),
    wait: (ms) => scheduler.wait(ms),
    now: () => Date.now(),
  };
}
