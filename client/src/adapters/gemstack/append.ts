import type { AiMessage } from "../../../../src/domain/conversation/message.ts";
import type { Cairn } from "../../cairn.ts";
import { isCairnError } from "../../error.ts";
import { newId } from "../../new-id.ts";
import type { CallOptions } from "../../options.ts";
import type { AppendAnswer } from "../../shapes.ts";
import { batchesBySize } from "../calls/batches-by-size.ts";

/** Messages are deleted one by one. */
const AT_ONCE = 20;

/**
 * Appends all messages or none. More than fit in one call go in several: if one fails, what those before it appended is
 * taken back, and what it may have appended itself.
 */
export async function append(
  memory: Cairn,
  id: string,
  { messages, options }: { messages: readonly AiMessage[]; options: CallOptions },
): Promise<void> {
  const [only = [], ...more] = batchesBySize(messages);
  if (more.length === 0) {
    await memory.threads.append(id, only, options);
    return;
  }
  const done: AppendAnswer[] = [];
  for (const part of [only, ...more]) {
    const idempotencyKey = newId();
    try {
      done.push(await memory.threads.append(id, part, { ...options, idempotencyKey }));
    } catch (error) {
      await undo(memory, id, {
        error,
        // Once more under its key, which tells what the first time did. Without the signal: it may be what ended it.
        known: async () =>
          isRefusal(error) ? done : [...done, await memory.threads.append(id, part, { idempotencyKey })],
      });
      throw error;
    }
  }
}

/** Whether the server says that it did nothing. After any other failure it may have done it, and the answer was lost. */
const isRefusal = (error: unknown): boolean =>
  isCairnError(error) && error.code !== "no_envelope" && error.status >= 400 && error.status < 500;

async function undo(
  memory: Cairn,
  id: string,
  { error, known }: { error: unknown; known: () => Promise<readonly AppendAnswer[]> },
): Promise<void> {
  try {
    const seqs = (await known()).flatMap(({ firstSeq = 1, lastSeq = 0 }) => range(firstSeq, lastSeq));
    await takeBack(memory, id, seqs);
  } catch (again) {
    const message =
      "an append failed, and so did taking back what it had appended: a beginning of it is left";
    throw new AggregateError([error, again], message, { cause: again });
  }
}

/** The last ones first, so that what is left if this fails is a beginning. */
async function takeBack(memory: Cairn, id: string, seqs: readonly number[]): Promise<void> {
  for (let end = seqs.length; end > 0; end -= AT_ONCE)
    await Promise.all(
      seqs.slice(Math.max(0, end - AT_ONCE), end).map((seq) => memory.threads.deleteMessage(id, seq)),
    );
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
