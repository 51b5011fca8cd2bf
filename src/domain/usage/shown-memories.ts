import { base64url } from "jose";

/** The items that a recall or a context (`injected`) showed: versions of memories, and the hashes of the query's words (`wordHashes`). */
export type ShownMemories = {
  versions: readonly number[];
  injected: boolean;
  query: readonly number[];
};

/** So many versions and words are packed, into 3 KB at most: they travel in the path of a URL. */
const MOST_VERSIONS = 500;
const MOST_WORDS = 100;

/** As base64url: a flag, the number of versions, the distances between them in ascending order, and 16 bits for each word. */
export function packed({ versions, injected, query }: ShownMemories): string {
  const sorted = [...new Set(versions)].slice(0, MOST_VERSIONS).toSorted((a, b) => a - b);
  const distances = sorted.map((version, i) => version - (sorted[i - 1] ?? 0));
  const numbers = [injected ? 1 : 0, sorted.length, ...distances].flatMap(inSevenBits);
  const words = query.slice(0, MOST_WORDS).flatMap((hash) => [hash >> 8, hash & 0xff]);
  return base64url.encode(Uint8Array.from([...numbers, ...words]));
}

/** Null for anything else than `packed` makes. */
export function unpacked(text: string): ShownMemories | null {
  const bytes = bytesOf(text);
  const numbers = numbersIn(bytes);
  const [flag, count] = [numbers.next().value?.n, numbers.next().value?.n];
  if (flag === undefined || count === undefined) return null;
  const versions: number[] = [];
  let end = bytes.length;
  for (let i = 0, last = 0; i < count; i++) {
    const { value } = numbers.next();
    if (value === undefined) return null;
    versions.push((last += value.n));
    end = value.end;
  }
  const query: number[] = [];
  for (let i = end; i + 1 < bytes.length; i += 2) query.push(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0));
  return { versions, injected: flag === 1, query };
}

/** Seven bits a byte, the lowest first; the eighth is set if more follow. */
function inSevenBits(n: number): number[] {
  return n < 128 ? [n] : [128 + (n % 128), ...inSevenBits(Math.floor(n / 128))];
}

function* numbersIn(bytes: Uint8Array): Generator<{ n: number; end: number }, undefined> {
  let [n, unit] = [0, 1];
  for (const [i, byte] of bytes.entries()) {
    n += (byte % 128) * unit;
    unit *= 128;
    if (byte >= 128) continue;
    yield { n, end: i + 1 };
    [n, unit] = [0, 1];
  }
}

function bytesOf(text: string): Uint8Array {
  try {
    return base64url.decode(text);
  } catch {
    return new Uint8Array();
  }
}
