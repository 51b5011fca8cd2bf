import type { MastraDBMessage } from "@mastra/core/agent";
import { hasCode } from "../../../client/src/error.ts";
import type { BatchOperation, Cairn, Message, StoredMessage } from "../../../client/src/index.ts";
import { batchesBySize } from "../calls/batches-by-size.ts";
import { slices } from "../calls/slices.ts";
import { keyPartOf } from "./records.ts";
import { firstSeqOf, messageOf, storedOf, withFirst } from "./stored-message.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** A Cairn thread, and the id of its Mastra thread. */
type Conversation = {
  id: string;
  cairnThread: string;
  resourceId?: string | undefined;
  /** Messages moved from or to this thread; it may hold some that belong to another. */
  moved?: true | undefined;
};
/** The operations of a save, and the times of its messages in order. */
export type Appending = { operations: readonly BatchOperation[]; times: readonly number[] };
type Spot = { cairnThread: string; seq: number };
/**
 * A message's location and hash; after a move, its former location too. `first`: the seq of its first version in this Cairn
 * thread, which is its place among the others.
 */
type Place = Spot & { threadId: string; hash: string; before?: Spot; first?: number };
type Placed = { place: Place; version: string };
type Draft = { id: string; stored: Message; hash: string; createdAt: number };

const ENTRIES_PER_CALL = 1000;
const CALLS_AT_ONCE = 10;
const ATTEMPTS = 10;
/** Messages and characters of JSON that one step stores with their places. */
const [AT_ONCE, AT_ONCE_BYTES] = [400, 2 * 1024 * 1024];
const PAGE = 1000;

/**
 * Mastra's messages in Cairn's threads. A Cairn message is immutable, so a changed one is appended and the old one
 * deleted. The last one with an id counts, in the place of the first one. An entry for each message holds its location.
 */
export class Conversations {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #under: string;

  constructor({ memory, user, prefix }: { memory: Cairn; user: string; prefix: string }) {
    this.#memory = memory;
    this.#user = user;
    this.#under = `${prefix}messages/`;
  }

  /** All messages, in the order of their first saves. */
  async read(conversation: Conversation): Promise<MastraDBMessage[]> {
    const messages = new Map<string, { seq: number; first: number; message: MastraDBMessage }>();
    const replaced: number[] = [];
    for await (const stored of this.#stream(conversation)) {
      const message = messageOf(stored, conversation);
      if (message === undefined) continue;
      const before = messages.get(message.id);
      if (before) replaced.push(before.seq);
      messages.set(message.id, { seq: stored.seq, first: firstSeqOf(stored), message });
    }
    if (conversation.moved) {
      for (const [id, { place }] of await this.#places([...messages.keys()])) {
        const seq = messages.get(id)?.seq;
        if (place.threadId === conversation.id) continue;
        messages.delete(id);
        const { before } = place;
        if (before?.cairnThread === conversation.cairnThread && before.seq === seq) replaced.push(seq);
      }
    }
    // Its writer is about to delete it, or failed before that.
    if (replaced.length > 0) this.#memory.later(() => this.#deleteAt(conversation.cairnThread, replaced));
    return inPlaces(messages.values());
  }

  /** The messages of a page of stored ones. Null if more may be wanted, or a changed one may stand before the page. */
  lastIn(
    conversation: Conversation,
    { items, isAll }: { items: readonly StoredMessage[]; isAll: boolean },
    { count, isWanted }: { count: number; isWanted: (message: MastraDBMessage) => boolean },
  ): MastraDBMessage[] | null {
    const messages = new Map<string, { first: number; message: MastraDBMessage }>();
    const wanted = addPage(messages, items, { conversation, isWanted });
    return isAll || wanted >= count ? inPlaces(messages.values()) : null;
  }

  /** The last messages that `isWanted`, in the order of their first saves; at least `count` if that many exist. */
  async last(
    conversation: Conversation,
    count: number,
    isWanted: (message: MastraDBMessage) => boolean,
  ): Promise<MastraDBMessage[]> {
    const messages = new Map<string, { first: number; message: MastraDBMessage }>();
    let cursor: string | undefined;
    let wanted = 0;
    do {
      const query = { limit: Math.min(count, PAGE), cursor };
      const page = await this.#memory.threads.read(conversation.cairnThread, query).catch(unlessMissing);
      wanted = addPage(messages, page?.items ?? [], { conversation, isWanted });
      cursor = page?.cursor;
    } while (cursor !== undefined && wanted < count);
    return inPlaces(messages.values());
  }

  /** The threads of these messages; unknown messages are missing. */
  async placesOf(ids: readonly string[]): Promise<Map<string, string>> {
    const places = await this.#places(ids);
    return new Map([...places].map(([id, { place }]) => [id, place.threadId]));
  }

  /**
   * Appends new and changed messages, oldest first, and returns their times. Before that it gives `note` these times,
   * in order, and the other threads that messages leave.
   */
  async save(
    { id: threadId, cairnThread }: Conversation,
    messages: readonly MastraDBMessage[],
    note: (times: readonly number[], left: readonly string[]) => Promise<unknown>,
  ): Promise<number[]> {
    const drafts = await draftsOf(messages);
    // Messages appended by attempts that another writer preceded.
    const own: { id: string; seq: number }[] = [];
    for (let attempt = 1; ; attempt++) {
      const places = await this.#places(drafts.map(({ id }) => id));
      const changed = drafts.filter(({ id, hash }) => {
        const place = places.get(id)?.place;
        return place?.cairnThread !== cairnThread || place.hash !== hash;
      });
      const before = changed.flatMap(({ id }) => places.get(id)?.place ?? []);
      // An earlier move may have failed before this deletion.
      const again = drafts.flatMap(({ id }) => places.get(id)?.place.before ?? []);
      const appended = changed.map(({ createdAt }) => createdAt);
      const left = before.map((place) => place.threadId).filter((other) => other !== threadId);
      if (changed.length > 0) await note(appended, [...new Set(left)]);
      const firsts = changed.map(({ id }) => firstIn(places.get(id)?.place, cairnThread));
      const seqs = await this.#append(
        cairnThread,
        changed.map((draft, i) => ({ ...draft, stored: withFirst(draft.stored, firsts[i]) })),
      );
      try {
        await this.#place(
          changed.map(({ id, hash }, i) => ({
            id,
            place: {
              threadId,
              cairnThread,
              seq: seqs[i] ?? 0,
              hash,
              ...(firsts[i] !== undefined && { first: firsts[i] }),
              ...beforeIn(places.get(id)?.place, threadId),
            },
            ifVersion: places.get(id)?.version ?? null,
          })),
        );
      } catch (error) {
        const isTaken = hasCode(error, "precondition_failed");
        if (!isTaken || attempt === ATTEMPTS) throw error;
        own.push(...changed.map(({ id }, i) => ({ id, seq: seqs[i] ?? 0 })));
        continue;
      }
      for (const spot of [...before, ...again]) await this.#deleteAt(spot.cairnThread, [spot.seq]);
      // If the other writer saved the same content, a reader may use our copy: it stays.
      const twice = own.filter((one) => changed.some(({ id }) => id === one.id));
      await this.#deleteAt(
        cairnThread,
        twice.map(({ seq }) => seq),
      );
      return appended;
    }
  }

  /**
   * The operations that append these messages behind a seq, if none of them is stored yet; null if one step may not hold
   * them.
   */
  async appending(
    { id: threadId, cairnThread }: Conversation,
    messages: readonly MastraDBMessage[],
    ifLastSeq: number,
  ): Promise<Appending | null> {
    const drafts = await draftsOf(messages);
    const times = drafts.map(({ createdAt }) => createdAt);
    if (drafts.length === 0 || drafts.length > AT_ONCE) return null;
    const stored = drafts.map((draft) => draft.stored);
    if (JSON.stringify(stored).length > AT_ONCE_BYTES) return null;
    const places = drafts.map(async ({ id, hash }, i): Promise<BatchOperation> => ({
      op: "set",
      key: await this.#keyOf(id),
      value: { threadId, cairnThread, seq: ifLastSeq + 1 + i, hash } satisfies Place,
      ifVersion: null,
    }));
    const append = { op: "append", threadId: cairnThread, messages: stored, ifLastSeq } as const;
    return {
      times,
      operations: [{ ...append, createdAt: Math.max(...times) }, ...(await Promise.all(places))],
    };
  }

  /** Deletes all versions of these messages. */
  async delete(conversation: Conversation, ids: ReadonlySet<string>): Promise<void> {
    const seqs: number[] = [];
    for await (const stored of this.#stream(conversation)) {
      const message = messageOf(stored, conversation);
      if (message !== undefined && ids.has(message.id)) seqs.push(stored.seq);
    }
    await this.#deleteAt(conversation.cairnThread, seqs);
    await this.#forgetPlaces(conversation, [...ids]);
  }

  /** Deletes the Cairn thread and its messages. */
  async deleteAll(conversation: Conversation): Promise<void> {
    const ids = (await this.read(conversation)).map(({ id }) => id);
    await this.#forgetPlaces(conversation, ids);
    await this.#memory.threads.delete(conversation.cairnThread).catch(unlessMissing);
  }

  async *#stream({ cairnThread }: Conversation) {
    try {
      yield* this.#memory.threads.stream(cairnThread);
    } catch (error) {
      // Already deleted, perhaps by another client.
      unlessMissing(error);
    }
  }

  /** Appends in one step if one call suffices; returns each seq. */
  async #append(cairnThread: string, drafts: readonly Draft[]): Promise<number[]> {
    const seqs: number[] = [];
    for (const some of batchesBySize(drafts, ({ stored }) => stored)) {
      const { firstSeq = 0 } = await this.#memory.threads.append(
        cairnThread,
        some.map(({ stored }) => stored),
        { createdAt: Math.max(...some.map(({ createdAt }) => createdAt)) },
      );
      seqs.push(...some.map((_, i) => firstSeq + i));
    }
    return seqs;
  }

  async #places(ids: readonly string[]): Promise<Map<string, Placed>> {
    const places = new Map<string, Placed>();
    for (const some of slices(ids, ENTRIES_PER_CALL)) {
      const keys = await Promise.all(some.map((id) => this.#keyOf(id)));
      const operations = keys.map((key): BatchOperation => ({ op: "get", key }));
      const { results } = await this.#memory.kv.batch(this.#user, operations);
      for (const [i, { value, version }] of results.entries())
        // Only `#place` writes under these keys.
        if (version !== undefined) places.set(some[i] ?? "", { place: value as Place, version });
    }
    return places;
  }

  async #place(all: readonly { id: string; place: Place; ifVersion: string | null }[]): Promise<void> {
    for (const some of slices(all, ENTRIES_PER_CALL)) {
      const operations = some.map(async ({ id, place, ifVersion }): Promise<BatchOperation> => ({
        op: "set",
        key: await this.#keyOf(id),
        value: place,
        ifVersion,
      }));
      await this.#memory.kv.batch(this.#user, await Promise.all(operations));
    }
  }

  /** Deletes the locations of messages that are still in this thread. */
  async #forgetPlaces({ id: threadId }: Conversation, ids: readonly string[]): Promise<void> {
    for (const some of slices(ids, ENTRIES_PER_CALL))
      await untilFirst(async () => {
        const places = [...(await this.#places(some))].filter(([, { place }]) => place.threadId === threadId);
        const operations = places.map(async ([id, { version }]): Promise<BatchOperation> => ({
          op: "delete",
          key: await this.#keyOf(id),
          ifVersion: version,
        }));
        if (places.length > 0) await this.#memory.kv.batch(this.#user, await Promise.all(operations));
      });
  }

  async #deleteAt(cairnThread: string, seqs: readonly number[]): Promise<void> {
    for (const some of slices(seqs, CALLS_AT_ONCE))
      await Promise.all(
        some.map((seq) => this.#memory.threads.deleteMessage(cairnThread, seq).catch(unlessMissing)),
      );
  }

  async #keyOf(id: string): Promise<string> {
    return this.#under + (await keyPartOf(id));
  }
}

/** Oldest first; of an id, the last one. */
async function draftsOf(messages: readonly MastraDBMessage[]): Promise<Draft[]> {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const drafts = await Promise.all([...byId.values()].map(draftOf));
  return drafts.toSorted((a, b) => a.createdAt - b.createdAt);
}

async function draftOf(message: MastraDBMessage): Promise<Draft> {
  const stored = storedOf(message);
  const hash = await sha256Hex(JSON.stringify(stored));
  return { id: message.id, stored, hash, createdAt: new Date(message.createdAt).getTime() };
}

/** Adds a page of stored messages, the last ones before those that are there. Returns how many are wanted. */
function addPage(
  messages: Map<string, { first: number; message: MastraDBMessage }>,
  items: readonly StoredMessage[],
  { conversation, isWanted }: { conversation: Conversation; isWanted: (message: MastraDBMessage) => boolean },
): number {
  for (const stored of items.toReversed()) {
    const message = messageOf(stored, conversation);
    if (message === undefined || messages.has(message.id)) continue;
    messages.set(message.id, { first: firstSeqOf(stored), message });
  }
  const reached = items[0]?.seq ?? 0;
  // A changed message may stand before those that are still unread.
  return [...messages.values()].filter(({ first, message }) => first >= reached && isWanted(message)).length;
}

const firstIn = (place: Place | undefined, cairnThread: string): number | undefined =>
  place?.cairnThread === cairnThread ? (place.first ?? place.seq) : undefined;

const inPlaces = (found: Iterable<{ first: number; message: MastraDBMessage }>): MastraDBMessage[] =>
  [...found].toSorted((a, b) => a.first - b.first).map(({ message }) => message);

const beforeIn = (place: Place | undefined, threadId: string): { before?: Spot } => {
  if (place === undefined) return {};
  const { cairnThread, seq, before } = place;
  if (place.threadId !== threadId) return { before: { cairnThread, seq } };
  return before === undefined ? {} : { before };
};

/** Retries a change while another writer is first. */
async function untilFirst(change: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await change();
    } catch (error) {
      if (!hasCode(error, "precondition_failed") || attempt === ATTEMPTS) throw error;
    }
}

/** For `catch`: ignores a missing resource and rethrows other errors. */
export function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, "not_found")) throw error;
}
