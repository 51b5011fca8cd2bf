import { CairnError, networkError } from "./error.ts";

// That a line is a T is the server's promise, as the shape of every answer is.

/** The name of the call in failures, and its signal. */
type Of = { call: string; signal: AbortSignal | undefined };

/** The values of a stream of JSON lines. Throws where it breaks off. The stream is let go of when the caller stops reading. */
export async function* jsonLines<T>(
  body: ReadableStream<Uint8Array>,
  of: Of,
): AsyncGenerator<T, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let ended = false;
  try {
    while (!ended) {
      const { done, value } = await read(reader, of);
      ended = done;
      rest += decoder.decode(value, { stream: !done });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") yield parsed(line, of) as T;
    }
    if (rest !== "") yield parsed(rest, of) as T;
  } finally {
    if (!ended) await reader.cancel().catch(() => {});
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, { call, signal }: Of) {
  try {
    return await reader.read();
  } catch (error) {
    signal?.throwIfAborted();
    throw networkError(error, call);
  }
}

function parsed(line: string, { call }: Of): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new CairnError(
      { code: "no_envelope", message: "a line of the answer is not JSON" },
      { status: 200, call },
    );
  }
}
