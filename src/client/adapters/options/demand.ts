import type { Cairn } from "../../cairn.ts";

type Given = { memory: Cairn; user?: string | undefined };

/** Throws a `TypeError` where an adapter is made without its client. Types say so too, but not in JavaScript. */
export function demandMemory(adapter: string, options: Pick<Given, "memory">): void {
  const memory: unknown = (options as Given | undefined)?.memory;
  if (typeof memory !== "object" || memory === null)
    throw new TypeError(`${adapter}: \`memory\` is missing: the client that cairn() makes`);
}

/** The same without its client or its user: else calls would be of a user named `undefined`. */
export function demandUser(adapter: string, options: Given): void {
  demandMemory(adapter, options);
  const user: unknown = options.user;
  if (typeof user !== "string" || user === "")
    throw new TypeError(`${adapter}: \`user\` is missing: whose memory it is`);
}
