import { isCairnError } from "../../../client/src/error.ts";
import type { Cairn, RememberBody } from "../../../client/src/index.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import { type ItemRecord, textsOf } from "./item-record.ts";
import { slices } from "../calls/slices.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** An item's score, and the text with that score. */
type ScoredText = { entryKey: string; score: number; text: string; rememberedAt: number };

type Named = { entryKey: string; record: ItemRecord };

/** The server takes 500, and 16 MiB: this many of the longest texts, with JSON escapes of six characters. */
const MEMORIES_PER_CALL = 300;
/** Characters of an item's key in its memories; `cairnEntry` names it in any case. */
const KEY = 500;
/** The most values of one filter field. */
const IDS_PER_CALL = 1000;
/** Calls in flight where the server takes one item a call. */
const CALLS_AT_ONCE = 10;
const HITS = 100;
/** The longest query in bytes. */
const QUERY_BYTES = 256 * 1024;

/**
 * Makes items searchable by meaning. Each text of an item is a fact of the user in the store's scope. Its metadata name
 * the item's entry, so that deleting the fact deletes the item in the same call.
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

  /** Stores the texts of items, replacing those at the same positions. */
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
      await this.#memory.memories.rememberMany(this.#user, some, { adapter: "langgraph" });
  }

  /** Deletes the item's former texts at positions past its present ones. */
  async forgetBeyond(items: readonly { entryKey: string; had: number; has: number }[]): Promise<void> {
    const ids = await Promise.all(
      items.map(async ({ entryKey, had, has }) =>
        (await this.#idsOf(entryKey, Array.from({ length: had }))).slice(has),
      ),
    );
    for (const externalId of slices(ids.flat(), IDS_PER_CALL)) await this.#forget({ externalId });
  }

  /** Deletes all texts of items, even if it is unknown which exist. */
  async forgetItems(entryKeys: readonly string[]): Promise<void> {
    for (const some of slices(entryKeys, CALLS_AT_ONCE))
      await Promise.all(some.map((item) => this.#forget({ metadata: { cairnEntry: item } })));
  }

  /** Deletes all texts of an item except these. */
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

  /** The hits under a namespace, best first. */
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
    // The item may stay, or be rewritten meanwhile.
    const how = { keepEntries: true };
    try {
      await this.#memory.memories.forgetWhere(this.#user, all, how);
    } catch (error) {
      // The client does not resend this call, to keep its count right; the count is unused here.
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
