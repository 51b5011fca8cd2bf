import { fail, ok, type Result } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";

const LF = 0x0a;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The lines of a body, counted from 1, while it comes in: no more of it is in memory than a line and what arrived with it.
 * Empty lines are left out. A line that is too long, or no UTF-8, is a failure, and the last that comes;
 * so is a body that breaks off.
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
      yield { n: n + 1, line: fail("line_too_long") };
      return;
    }
  }
  if (length > 0) yield { n: n + 1, line: textOf(parts, length) };
}

/** The chunks of a body; null is the last one where the body cannot be read to its end. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array | null, void> {
  try {
    yield* body;
  } catch {
    yield null;
  }
}

function textOf(parts: readonly Uint8Array[], length: number): Result<string> {
  if (length > limits.exportLine) return fail("line_too_long");
  const whole = new Uint8Array(length);
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  try {
    return ok(utf8.decode(whole).trim());
  } catch {
    return fail("invalid_json");
  }
}
