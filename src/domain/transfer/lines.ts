import { concatBytes } from "../concat-bytes.ts";
import { fail, ok, type Result } from "../errors.ts";
import { limits } from "../limits.ts";

const LF = 0x0a;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The lines of a body, counted from 1, with one line and one chunk in memory. Skips empty lines. Ends with a failure for a
 * line that is too long or not UTF-8, and for a body that breaks off.
 */
export async function* linesOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ n: number; line: Result<string> }, void> {
  let parts: Uint8Array[] = [];
  let [length, n] = [0, 0];
  for await (const chunk of chunksOf(body)) {
    if (chunk === null) {
      yield { n: n + 1, line: fail("body_incomplete") };
      return;
    }
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      n++;
      parts.push(chunk.subarray(start, end));
      length += end - start;
      const line = textOf(parts, length);
      if (!line.ok || line.value !== "") yield { n, line };
      if (!line.ok) return;
      [parts, length, start] = [[], 0, end + 1];
    }
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > limits.exportLine) {
      yield { n: n + 1, line: fail("value_too_large") };
      return;
    }
  }
  if (length > 0) yield { n: n + 1, line: textOf(parts, length) };
}

/** The chunks of a body; null at the end if it breaks off. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array | null, void> {
  try {
    yield* body;
  } catch {
    yield null;
  }
}

function textOf(parts: readonly Uint8Array[], length: number): Result<string> {
  if (length > limits.exportLine) return fail("value_too_large");
  try {
    return ok(utf8.decode(concatBytes(parts)).trim());
  } catch {
    return fail("invalid_json");
  }
}
