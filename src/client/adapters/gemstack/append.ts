import type { AiMessage } from "../../../conversation/message.ts";
import type { Cairn } from "../../cairn.ts";
import type { CallOptions } from "../../options.ts";
import { bySize } from "../calls/by-size.ts";

/** Messages are deleted one by one. */
const AT_ONCE = 20;

/**
 * Appends all messages or none. More than fit in one call go in several: if one fails, what those before it appended is
 * taken back.
 */
export async function append(
  memory: Cairn,
  id: string,
  { messages, options }: { messages: readonly AiMessage[]; options: CallOptions },
): Promise<void> {
  const [first = [], ...more] = bySize(messages);
  const done = [await memory.threads.append(id, first, options)];
  try {
    for (const part of more) done.push(await memory.threads.append(id, part, options));
  } catch (error) {
    const seqs = done.flatMap(({ firstSeq = 1, lastSeq = 0 }) => range(firstSeq, lastSeq));
    await takeBack(memory, id, { seqs, error });
    throw error;
  }
}

/** The last ones first, so that what is left is a beginning. Without the signal: it may be what ended the append. */
async function takeBack(
  memory: Cairn,
  id: string,
  { seqs, error }: { seqs: readonly number[]; error: unknown },
): Promise<void> {
  try {
    for (let end = seqs.length; end > 0; end -= AT_ONCE)
      await Promise.all(
        seqs.slice(Math.max(0, end - AT_ONCE), end).map((seq) => memory.threads.deleteMessage(id, seq)),
      );
  } catch (again) {
    const message = "an append failed, and so did taking back what it had appended";
    throw new AggregateError([error, again], message, { cause: again });
  }
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
