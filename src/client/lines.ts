import { CairnError, networkError } from "./error.ts";

// That a line is a T is the server's promise, as the shape of every answer is.

/** The values of a stream of JSON lines. Throws where it breaks off. The stream is let go of when the caller stops reading. */
export async function* jsonLines<T>(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let ended = false;
  try {
    while (!ended) {
      const { done, value } = await read(reader, signal);
      ended = done;
      rest += decoder.decode(value, { stream: !done });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") yield parsed(line) as T;
    }
    if (rest !== "") yield parsed(rest) as T;
  } finally {
    if (!ended) await reader.cancel().catch(() => {});
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal | undefined) {
  try {
    return await reader.read();
  } catch (error) {
    signal?.throwIfAborted();
    throw networkError(error);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new CairnError(
      { code: "no_envelope", message: "a line of the answer is no JSON" },
      { status: 200 },
    );
  }
}
