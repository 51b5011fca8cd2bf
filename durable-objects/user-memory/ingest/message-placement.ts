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
  const given = givenIn(deps, thread, request);
  const changed: number[] = [];
  const fresh = new FreshMessages();
  let isBehind = false;
  for (const [i, { body, key, seq, before, former, createdAt }] of given.entries()) {
    if (seq !== null && former !== undefined && !isBehind) {
      const replaced = messages.replace(thread.id, seq, { body, createdAt: former.createdAt, trust });
      if (!replaced.ok) return replaced;
      if (replaced.value) changed.push(seq);
      // A fork keeps the message as it was. Here it is stored anew, and so is all that follows, to keep the order.
      else isBehind = true;
    }
    if (seq !== null && (before === undefined || !isBehind)) continue;
    const isFirst = fresh.add(i, key, { body, createdAt });
    if (seq === null || !isFirst) continue;
    const deleted = messages.deleteMessage(thread.id, seq);
    if (!deleted.ok) return deleted;
  }
  const appended = fresh.append(messages, thread, trust);
  if (!appended.ok) return appended;
  const seqs = given.map(({ seq }, i) => appended.value.get(i) ?? seq ?? 0);
  return ok({ seqs, stored: fresh.count, changed });
}

/** The given messages, each with its seq in the thread and what that has, if any. */
function givenIn(
  { stores, now }: PlacementDependencies,
  thread: StoredThread,
  { bodies, times }: Pick<IngestRequest, "bodies" | "times">,
) {
  const seen = new Map<number, Seen>();
  const given = bodies.map((body) => {
    const text = textOf(body);
    return { body, text, key: keyOf(parsed(body), text) };
  });
  const keys = given.map(({ key }) => key);
  const seqs = knownSeqs(keys, storedTexts(stores.reader, thread, seen));
  return given.map(({ body, text, key }, i) => {
    const seq = seqs[i] ?? null;
    // A message that was deleted is known, but not seen.
    const before = seq === null ? undefined : seen.get(seq);
    const createdAt = times?.[i] ?? before?.createdAt ?? now();
    // `former`: it says something else now.
    return { body, key, seq, before, former: before?.text === text ? undefined : before, createdAt };
  });
}

type Fresh = { body: Uint8Array; createdAt: number };

/** The messages to append. Of those with one id, the last stands in the place of the first. */
class FreshMessages {
  readonly #all: Fresh[] = [];
  /** The places in `#all`, by the index of the given message. */
  readonly #places = new Map<number, number>();
  readonly #placesOfIds = new Map<string, number>();

  /** True unless a message with this id is there. */
  add(i: number, key: string, message: Fresh): boolean {
    const place = isId(key) ? this.#placesOfIds.get(key) : undefined;
    this.#places.set(i, place ?? this.#all.length);
    if (place !== undefined) {
      this.#all.splice(place, 1, { ...message, ...this.#all[place], body: message.body });
      return false;
    }
    this.#placesOfIds.set(key, this.#all.length);
    this.#all.push(message);
    return true;
  }

  get count(): number {
    return this.#all.length;
  }

  /** Appends them. Returns their seqs by the index of the given message. */
  append(
    messages: PlacementDependencies["messages"],
    { id }: StoredThread,
    trust: Trust,
  ): Result<ReadonlyMap<number, number>> {
    if (this.#all.length === 0) return ok(new Map());
    const appended = messages.append(id, {
      bodies: this.#all.map(({ body }) => body),
      createdAt: this.#all.map(({ createdAt }) => createdAt),
      trust,
    });
    if (!appended.ok) return appended;
    const { firstSeq = 1 } = appended.value;
    return ok(new Map(Array.from(this.#places, ([i, place]) => [i, firstSeq + place])));
  }
}
