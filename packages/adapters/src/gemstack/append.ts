import type { AiMessage } from "../../../../src/domain/conversation/message.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import { isCairnError } from "../../../client/src/error.ts";
import { newId } from "../../../client/src/new-id.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { AppendAnswer } from "../../../client/src/shapes.ts";
import { batchesBySize } from "../calls/batches-by-size.ts";

/** Deletions in flight at once; each takes one message. */
const AT_ONCE = 20;

/**
 * Appends all messages or none. If one of several calls fails, deletes the messages that it and the earlier calls
 * appended.
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
        // Resends under the same key, to learn the first outcome. Omits the signal, which may have caused the failure.
        known: async () =>
          isRefusal(error) ? done : [...done, await memory.threads.append(id, part, { idempotencyKey })],
      });
      throw error;
    }
  }
}

/** True if the server refused the call. After other failures the call may have succeeded. */
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

/** Deletes from the end, so that a failure leaves a beginning. */
async function takeBack(memory: Cairn, id: string, seqs: readonly number[]): Promise<void> {
  for (let end = seqs.length; end > 0; end -= AT_ONCE)
    await Promise.all(
      seqs.slice(Math.max(0, end - AT_ONCE), end).map((seq) => memory.threads.deleteMessage(id, seq)),
    );
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
