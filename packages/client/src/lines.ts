import { CairnError, networkError } from "./error.ts";

// That a line is a T is the server's promise, as the shape of every answer is.

/** The name of the call in failures, its signal, and how a line is read. */
type Of = { call: string; signal: AbortSignal | undefined; parse: (json: string) => unknown };

/** The values of JSON lines that come in parts. Throws where they break off. */
export async function* jsonLines<T>(
  parts: AsyncGenerator<Uint8Array, void>,
  of: Of,
): AsyncGenerator<T, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of unbroken(parts, of)) {
    rest += decoder.decode(part, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield parsed(line, of) as T;
  }
  rest += decoder.decode();
  if (rest !== "") yield parsed(rest, of) as T;
}

async function* unbroken(parts: AsyncGenerator<Uint8Array, void>, { call, signal }: Of) {
  try {
    yield* parts;
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof CairnError ? error : networkError(error, call);
  }
}

function parsed(line: string, { call, parse }: Of): unknown {
  try {
    return parse(line);
  } catch {
    throw new CairnError(
      { code: "no_envelope", message: "a line of the answer is not JSON" },
      { status: 200, call },
    );
  }
}
