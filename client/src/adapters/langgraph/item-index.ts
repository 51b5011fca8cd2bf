import { isCairnError } from "../../error.ts";
import type { Cairn, RememberBody } from "../../index.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import { type ItemRecord, textsOf } from "./item-record.ts";
import { slices } from "../calls/slices.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** A score of an item, and the text that earned it. */
export type ScoredText = { entryKey: string; score: number; text: string; rememberedAt: number };

type Named = { entryKey: string; record: ItemRecord };

/** The server takes 500, and 16 MiB: so many of the longest texts, of characters that JSON writes six times as long. */
const MEMORIES_PER_CALL = 300;
/** Characters of an item's key that its memories tell; `cairnEntry` names it in any case. */
const KEY = 500;
/** Values that one field of a filter takes. */
const IDS_PER_CALL = 1000;
/** Calls at a time where the server takes one item a call. */
const CALLS_AT_ONCE = 10;
const HITS = 100;
/** Bytes of a query. */
const QUERY_BYTES = 256 * 1024;

/**
 * Makes items found by meaning: each of an item's texts is a fact of the user's, in the scope of the store, whose metadata
 * name the entry of the item: who forgets the fact deletes the item, in the same call.
 */
export class ItemIndex {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #scope: string;

  constructor(memory: Cairn, user: string, scope: string) {
    this.#memory = memory;
    this.#user = user;
    this.#scope = scope;
  }

  /** Remembers the texts of items; those that an item had in the same place before are replaced. */
  async remember(items: readonly (Named & { expiresAt?: number | undefined })[]): Promise<void> {
    const memories = await Promise.all(
      items.map(async ({ entryKey, record, expiresAt }) => {
        const { namespace, key } = record;
        const named = Object.fromEntries(namespace.map((label, i) => [levelOf(i), label]));
        const ids = await this.#idsOf(entryKey, textsOf(record));
        return textsOf(record).map((text, i): RememberBody => ({
          kind: "fact",
          text,
          scope: this.#scope,
          externalId: ids[i],
          metadata: { cairnEntry: entryKey, ...(key.length <= KEY && { key }), ...named },
          ...(expiresAt !== undefined && { expiresAt }),
        }));
      }),
    );
    for (const some of slices(memories.flat(), MEMORIES_PER_CALL))
      await this.#memory.memories.rememberMany(this.#user, some);
  }

  /** Forgets what an item was found by and is no longer: the texts behind those that it has now. */
  async forgetBeyond(items: readonly { entryKey: string; had: number; has: number }[]): Promise<void> {
    const ids = await Promise.all(
      items.map(async ({ entryKey, had, has }) =>
        (await this.#idsOf(entryKey, Array.from({ length: had }))).slice(has),
      ),
    );
    for (const externalId of slices(ids.flat(), IDS_PER_CALL)) await this.#forget({ externalId });
  }

  /** Forgets all that items are found by, also where it is not known what that is. */
  async forgetItems(entryKeys: readonly string[]): Promise<void> {
    for (const some of slices(entryKeys, CALLS_AT_ONCE))
      await Promise.all(some.map((item) => this.#forget({ metadata: { cairnEntry: item } })));
  }

  /** Forgets what an item is found by, but for these texts. */
  async forgetOther(entryKey: string, texts: readonly string[]): Promise<void> {
    const externalId: string[] = [];
    const all = this.#memory.memories.all(this.#user, {
      scope: [this.#scope],
      metadata: { cairnEntry: entryKey },
    });
    for await (const memory of all)
      if (memory.externalId !== undefined && !texts.includes(memory.text)) externalId.push(memory.externalId);
    for (const some of slices(externalId, IDS_PER_CALL)) await this.#forget({ externalId: some });
  }

  /** What is found under a namespace, best first. */
  async find(namespace: readonly string[], query: string): Promise<ScoredText[]> {
    const under = Object.fromEntries(namespace.map((label, i) => [levelOf(i), label]));
    const { hits } = await this.#memory.recall(this.#user, {
      query: truncateUtf8(query.trim(), QUERY_BYTES),
      kinds: ["fact"],
      k: HITS,
      scope: this.#scope,
      ...(namespace.length > 0 && { filter: { metadata: under } }),
    });
    return hits.flatMap(({ metadata, score, text, updatedAt = 0 }) => {
      const item = metadata?.cairnEntry;
      return typeof item === "string" ? [{ entryKey: item, score, text, rememberedAt: updatedAt }] : [];
    });
  }

  async #forget(filter: { externalId: string[] } | { metadata: { cairnEntry: string } }): Promise<void> {
    const all = { ...filter, scope: [this.#scope] };
    // The item itself may stay, or be written anew meanwhile.
    const how = { keepEntries: true };
    try {
      await this.#memory.memories.forgetWhere(this.#user, all, how);
    } catch (error) {
      // The client does not send this again by itself, for what it answers; here only what it does counts.
      if (!isCairnError(error) || error.status === 0 || error.status < 500) throw error;
      await this.#memory.memories.forgetWhere(this.#user, all, how);
    }
  }

  async #idsOf(entryKey: string, texts: readonly unknown[]): Promise<string[]> {
    const item = await sha256Hex(`${this.#scope}\n${entryKey}`);
    return texts.map((_, i) => `langgraph:${item}:${i}`);
  }
}

const levelOf = (level: number): string => `namespace${level}`;
