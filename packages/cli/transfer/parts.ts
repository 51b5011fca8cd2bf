// An export in parts that an import takes one by one.

/** Bytes of one request: Cloudflare takes 100 MB on the smallest plan, and a request has its time. */
const PART_BYTES = 16 * 1024 * 1024;
/** The versions of a memory go together. */
const LATER_VERSION = /^\{"type":"memory","id":"[^"]*","version":(?!1,)/;
const THREAD = '{"type":"thread",';
/** Lines outside of threads, which follow the last thread. */
const BEHIND_THREADS = /^\{"type":"(?:entry|memory|end)"/;

/** `from`: the line of the export that it has first, but for those that it has again. `whole`: it is all of the export. */
export type Part = { body: Uint8Array<ArrayBuffer>; from: number; whole: boolean };

/**
 * The lines in parts of whole ones, each behind the first line; `bytes` is when a part ends. A part that begins in a thread, or
 * where one ends, has that thread's line again before all others: so the import knows where the thread ends, also where that is
 * the part's end.
 */
export async function* partsOf(lines: AsyncIterable<string>, bytes = PART_BYTES): AsyncGenerator<Part, void> {
  let header: Buffer<ArrayBuffer> | null = null;
  let thread: Buffer<ArrayBuffer> | null = null;
  let part: Buffer<ArrayBuffer>[] = [];
  let [size, n, from] = [0, 0, 1];
  for await (const line of lines) {
    n++;
    const next = Buffer.from(`${line}\n`);
    if (header !== null && size >= bytes && !LATER_VERSION.test(line)) {
      yield { body: Buffer.concat(part), from, whole: false };
      from = n;
      part = [header, ...(thread === null ? [] : [thread])];
      size = 0;
    }
    header ??= next;
    if (line.startsWith(THREAD)) thread = next;
    else if (BEHIND_THREADS.test(line)) thread = null;
    part.push(next);
    size += next.length;
  }
  if (part.length > 0) yield { body: Buffer.concat(part), from, whole: from === 1 };
}
