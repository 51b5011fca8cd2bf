import { ok, type Result } from "../../../src/domain/errors.ts";
import { isId, keyOf, knownSeqs } from "../../../src/domain/ingest/known-messages.ts";
import { canonicalJson } from "../../../src/domain/prompt-cache/canonical-json.ts";
import type { Json } from "../../../src/domain/schema/bounds.ts";
import type { IngestRequest } from "../../../src/contract/user-memory.ts";
import { parsed } from "../threads/message-store.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { ThreadReader } from "../threads/thread-reader.ts";
import type { StoredThread } from "../threads/thread-store.ts";

type PlacementDependencies = {
  stores: { reader: ThreadReader };
  messages: Pick<ThreadMessages, "append" | "replace" | "deleteMessage">;
  now: () => number;
};
/** The messages of a call in a thread: the seq of each, how many are new, and the seqs that say something else now. */
type Placed = { seqs: number[]; stored: number; changed: number[] };
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
  { stores, messages, now }: PlacementDependencies,
  thread: StoredThread,
  { bodies, times, by: { trust } }: Pick<IngestRequest, "bodies" | "times" | "by">,
): Result<Placed> {
  if (bodies.length === 0) return ok({ seqs: [], stored: 0, changed: [] });
  const seen = new Map<number, Seen>();
  const texts = bodies.map(textOf);
  const keys = bodies.map((body, i) => keyOf(parsed(body), texts[i] ?? ""));
  const found = knownSeqs(keys, storedTexts(stores.reader, thread, seen)).map((seq, i) => {
    // A message that was deleted is known, but not seen.
    const before = seq === null ? undefined : seen.get(seq);
    return { seq, before, hasChanged: before !== undefined && before.text !== texts[i] };
  });
  const changed: number[] = [];
  const fresh: { body: Uint8Array; createdAt: number }[] = [];
  /** The places in `fresh`, by the index of the given message and by its key. */
  const [places, placesOfIds] = [new Map<number, number>(), new Map<string, number>()];
  let isBehind = false;
  for (const [i, body] of bodies.entries()) {
    const { seq = null, before, hasChanged = false } = found[i] ?? {};
    if (seq !== null && before !== undefined && hasChanged && !isBehind) {
      const replaced = messages.replace(thread.id, seq, {
        body,
        createdAt: before.createdAt,
        trust,
      });
      if (!replaced.ok) return replaced;
      if (replaced.value) changed.push(seq);
      // A fork keeps the message as it was. Here it is stored anew, and so is all that follows, to keep the order.
      else isBehind = true;
    }
    if (seq !== null && (before === undefined || !isBehind)) continue;
    const key = keys[i] ?? "";
    const place = isId(key) ? placesOfIds.get(key) : undefined;
    places.set(i, place ?? fresh.length);
    if (place !== undefined) {
      fresh.splice(place, 1, { createdAt: now(), ...fresh[place], body });
      continue;
    }
    if (seq !== null) {
      const deleted = messages.deleteMessage(thread.id, seq);
      if (!deleted.ok) return deleted;
    }
    placesOfIds.set(key, fresh.length);
    fresh.push({ body, createdAt: times?.[i] ?? before?.createdAt ?? now() });
  }
  const seqs = found.map(({ seq }) => seq ?? 0);
  if (fresh.length === 0) return ok({ seqs, stored: 0, changed });
  const appended = messages.append(thread.id, {
    bodies: fresh.map((one) => one.body),
    createdAt: fresh.map(({ createdAt }) => createdAt),
    trust,
  });
  if (!appended.ok) return appended;
  const { firstSeq = 1 } = appended.value;
  for (const [i, place] of places) seqs[i] = firstSeq + place;
  return ok({ seqs, stored: fresh.length, changed });
}
