import { ok, type Result } from "../../../src/domain/errors.ts";
import { isId, keyOf, knownSeqs } from "../../../src/domain/ingest/known-messages.ts";
import { canonicalJson } from "../../../src/domain/prompt-cache/canonical-json.ts";
import type { Json } from "../../../src/domain/schema/bounds.ts";
import type { Trust } from "../../../src/domain/schema/provenance.ts";
import type { IngestRequest } from "../../../src/contract/user-memory.ts";
import { parsed } from "../threads/message-documents.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { ThreadReader } from "../threads/thread-reader.ts";
import type { StoredThread } from "../threads/thread-row.ts";

type PlacementDependencies = {
  stores: { reader: ThreadReader };
  messages: Pick<ThreadMessages, "append" | "replace" | "deleteMessage">;
  now: () => number;
};
/** The messages of a call in a thread: the seq of each, how many are new, and the seqs that say something else now. */
export type Placed = { seqs: number[]; stored: number; changed: number[] };
/** By id, or by place in the call. */
type FreshMessages = Map<string | number, { body: Uint8Array; createdAt: number }>;
type Seen = { text: string; createdAt: number };

/** Equal for messages that are equal as JSON. */
export const textOf = (body: Uint8Array): string => canonicalJson(parsed(body) as Json);

/** The messages of a thread, compared as JSON. */
export function storedTexts(reader: ThreadReader, thread: StoredThread, seen?: Map<number, Seen>) {
  const walk = (order: "newest" | "oldest") =>
    Iterator.from(reader.walk(thread, { order, view: "raw" })).map(({ seq, body, createdAt }) => {
      const text = textOf(body);
      seen?.set(seq, { text, createdAt });
      return { seq, text: seen === undefined ? text : keyOf(parsed(body), text) };
    });
  return { oldest: () => walk("oldest"), newest: () => walk("newest") };
}

/** Finds the messages that the thread has, replaces those that have changed, and appends the others. Call it in a transaction. */
export function placeMessages(
  deps: PlacementDependencies,
  thread: StoredThread,
  request: Pick<IngestRequest, "bodies" | "times" | "by">,
): Result<Placed> {
  if (request.bodies.length === 0) return ok({ seqs: [], stored: 0, changed: [] });
  const { messages } = deps;
  const { trust } = request.by;
  const sent = sentIn(deps, thread, request);
  const changed: number[] = [];
  // The last message of an id stands in the place of the first.
  const fresh: FreshMessages = new Map();
  const isFresh: boolean[] = [];
  let isBehind = false;
  for (const [i, { body, place, seq, before, former, createdAt }] of sent.entries()) {
    if (seq !== null && former !== undefined && !isBehind) {
      const replaced = messages.replace(thread.id, seq, { body, createdAt: former.createdAt, trust });
      if (!replaced.ok) return replaced;
      if (replaced.value) changed.push(seq);
      // A fork keeps the message as it was. Here it is stored anew, and so is all that follows, to keep the order.
      else isBehind = true;
    }
    if (seq !== null && (before === undefined || !isBehind)) continue;
    const first = fresh.get(place);
    fresh.set(place, { createdAt, ...first, body });
    isFresh[i] = true;
    if (seq === null || first !== undefined) continue;
    const deleted = messages.deleteMessage(thread.id, seq);
    if (!deleted.ok) return deleted;
  }
  const appended = appendAll(messages, thread, fresh, trust);
  if (!appended.ok) return appended;
  const seqs = sent.map(({ place, seq }, i) => (isFresh[i] ? appended.value.get(place) : seq) ?? 0);
  return ok({ seqs, stored: fresh.size, changed });
}

/** Appends messages. Returns their seqs. */
function appendAll(
  messages: PlacementDependencies["messages"],
  { id }: StoredThread,
  fresh: FreshMessages,
  trust: Trust,
): Result<ReadonlyMap<string | number, number>> {
  if (fresh.size === 0) return ok(new Map());
  const all = [...fresh.values()];
  const bodies = all.map(({ body }) => body);
  const appended = messages.append(id, { bodies, createdAt: all.map(({ createdAt }) => createdAt), trust });
  if (!appended.ok) return appended;
  const { firstSeq = 1 } = appended.value;
  return ok(new Map(Array.from(fresh.keys(), (place, i) => [place, firstSeq + i])));
}

/** The messages of a call, each with its seq in the thread and what that has, if any. */
function sentIn(
  { stores, now }: PlacementDependencies,
  thread: StoredThread,
  { bodies, times }: Pick<IngestRequest, "bodies" | "times">,
) {
  const seen = new Map<number, Seen>();
  const sent = bodies.map((body) => {
    const text = textOf(body);
    return { body, text, key: keyOf(parsed(body), text) };
  });
  const keys = sent.map(({ key }) => key);
  const seqs = knownSeqs(keys, storedTexts(stores.reader, thread, seen));
  return sent.map(({ body, text, key }, i) => {
    const place = isId(key) ? key : i;
    const seq = seqs[i] ?? null;
    // A message that was deleted is known, but not seen.
    const before = seq === null ? undefined : seen.get(seq);
    const createdAt = times?.[i] ?? before?.createdAt ?? now();
    // `former`: it says something else now.
    return { body, place, seq, before, former: before?.text === text ? undefined : before, createdAt };
  });
}
