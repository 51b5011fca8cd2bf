/** `parentId`: the caller's span. `isSampled`: the trace is recorded. */
export type TraceContext = { traceId: string; parentId: string | null; isSampled: boolean };

/** Characters of a header without an end of its own: a later version may have more fields. */
const LONGEST = 512;

/** The trace that a caller's header continues, by W3C Trace Context. Null without one, and for one that is not valid. */
export function continued(header: string | null): TraceContext | null {
  if (header === null || header.length > LONGEST) return null;
  const [version = "", traceId = "", parentId = "", flags = "", ...more] = header.trim().split("-");
  const isKnown = isHex(version, 2) && version !== "ff" && (version !== "00" || more.length === 0);
  if (!isKnown || !isId(traceId, 32) || !isId(parentId, 16) || !isHex(flags, 2)) return null;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/**
 * A trace that begins here. Its id is the request id, so that an answer, and a line of the log, lead to it. `share`: of such traces that are
 * recorded, from 0 to 1.
 */
export function begun(requestId: string | null, share = 1): TraceContext {
  const id = requestId?.replaceAll("-", "") ?? "";
  const traceId = isId(id, 32) ? id : randomHex(16);
  // The last 13 digits of a request id are random.
  const isSampled = Number.parseInt(traceId.slice(-13), 16) < share * 16 ** 13;
  return { traceId, parentId: null, isSampled };
}

export const newSpanId = (): string => randomHex(8);

const isHex = (text: string, length: number): boolean => text.length === length && /^[\da-f]+$/.test(text);
const isId = (text: string, length: number): boolean => isHex(text, length) && /[^0]/.test(text);

const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
