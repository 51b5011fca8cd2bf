// Sends threads as an export of their user, which keeps their ids and times, and appends what they have more than before.
import type { Cairn, CairnError } from "../../client/src/index.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { FORMAT, FORMAT_VERSION } from "../../../src/domain/transfer/format.ts";
import { partsOf } from "../../cli/transfer/parts.ts";
import type { ImportedThread } from "./fit-thread.ts";
import { inHalves } from "./in-halves.ts";
import type { Outcome } from "./report.ts";
import { inShort, isObject } from "./source.ts";

/**
 * Sends the threads of one user, and returns those that are stored. A thread that is there stays as it is, but for messages
 * after its last one.
 */
export async function sendThreads(
  cairn: Cairn,
  { user, threads }: { user: string; threads: readonly ImportedThread[] },
  outcome: Outcome,
): Promise<readonly ImportedThread[]> {
  const refused = new Set<ImportedThread>();
  const incomplete: ImportedThread[] = [];
  const send = async (some: readonly ImportedThread[]) => {
    const counts = await imported(cairn, user, some);
    outcome.threads.created += counts.created;
    outcome.threads["there already"] += some.length - counts.created;
    outcome.messages.created += counts.messages;
    outcome.messages["there already"] += counts.there;
    if (counts.leftOut > 0) incomplete.push(...some);
  };
  const failed = (thread: ImportedThread, error: CairnError) => {
    refused.add(thread);
    outcome.threads.failed++;
    outcome.failed.add({ reason: error.message, example: inShort(thread.title) });
  };
  await inHalves(threads, send, failed);
  const goOn = async ([thread]: readonly ImportedThread[]) => {
    if (thread !== undefined) await continueThread(cairn, thread, outcome);
  };
  for (const thread of incomplete) await inHalves([thread], goOn, failed);
  return threads.filter((thread) => !refused.has(thread));
}

async function imported(cairn: Cairn, user: string, threads: readonly ImportedThread[]) {
  const counts = { created: 0, messages: 0, there: 0, leftOut: 0 };
  for await (const { body, whole } of partsOf(exportOf(user, threads))) {
    const answer = await cairn.transfer.import(user, body, { part: !whole });
    counts.created += answer.imported.threads ?? 0;
    counts.messages += answer.imported.messages ?? 0;
    counts.there += answer.there.messages ?? 0;
    counts.leftOut += answer.leftOut.messages ?? 0;
  }
  return counts;
}

async function* exportOf(userId: string, threads: readonly ImportedThread[]): AsyncGenerator<string, void> {
  const header = { format: FORMAT, version: FORMAT_VERSION, userId, userHash: await userHash(userId) };
  yield JSON.stringify(header);
  let lines = 2;
  for (const thread of threads) {
    yield* thread.lines;
    lines += thread.lines.length;
  }
  yield JSON.stringify({ type: "end", lines });
}

/**
 * Appends the messages that the source has behind those of the last import. Deleted messages stay deleted. A thread that says
 * something else than its source stays as it is.
 */
async function continueThread(cairn: Cairn, thread: ImportedThread, outcome: Outcome): Promise<void> {
  const { id, title, messages } = thread;
  const stored = await cairn.threads.get(id);
  if (stored === null) return;
  let [length, last, same] = [0, 0, 0];
  for await (const { seq, message } of cairn.threads.stream(id)) {
    length++;
    last = seq;
    if (JSON.stringify(messages[seq - 1]?.message) === JSON.stringify(message)) same++;
  }
  const known = Math.max(last, importedCount(stored.metadata));
  if (same < length) {
    const missing = messages.length - same;
    outcome.messages["left out"] += missing;
    const reason = "messages of threads that changed since their import";
    if (missing > 0) outcome.failed.add({ reason, example: inShort(title), count: missing });
    return;
  }
  outcome.messages["deleted here"] += Math.min(known, messages.length) - length;
  if (known >= messages.length) return;
  // One call has one time.
  for (const { message, createdAt } of messages.slice(known)) {
    await cairn.threads.append(id, [message], { expectedLength: length++, createdAt });
    outcome.messages.created++;
  }
  await cairn.threads.patch(id, { metadata: { ...stored.metadata, ...thread.metadata } });
}

/** The number of messages at the last import. A seq is used once, so the next one is behind it. */
function importedCount(metadata: Record<string, unknown> | undefined): number {
  const from = metadata?.importedFrom;
  return isObject(from) && typeof from.messages === "number" ? from.messages : 0;
}
