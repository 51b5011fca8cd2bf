import type { Cairn, RememberBody } from "../../../client/src/index.ts";

import { ENTRY_BYTES, LargeEntries } from "../entries/large-entries.ts";
import { asideOf, isRoomy, jsonOf, type Stored } from "./record.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/**
 * Records too large for a memory, stored as JSON in the user's entries. Keys derive from the content, so that
 * concurrent saves never mix and older versions in a memory's history stay whole. Deleting the memory deletes its entry
 * too.
 */
export class LargeRecords {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #entries: LargeEntries;

  constructor(memory: Cairn, user: string) {
    this.#memory = memory;
    this.#user = user;
    this.#entries = new LargeEntries(memory, user, { inline: ENTRY_BYTES });
  }

  /** Returns the body to store, after storing the parts that it cannot hold. */
  async kept(body: RememberBody, record: object): Promise<RememberBody> {
    if (isRoomy(body)) return body;
    const json = jsonOf(record);
    const key = `${await prefixOf(body.externalId ?? "")}${await sha256Hex(json)}`;
    await this.#entries.write([{ key, value: json }]);
    const { rest: _rest, ...aside } = asideOf(body) ?? {};
    return { ...body, metadata: { molroo: { ...aside, whole: { key } }, cairnEntry: key } };
  }

  /** The whole record of a memory that does not hold it; null if the memory does, or the entry was deleted. */
  async of(memory: Stored): Promise<unknown> {
    const key = asideOf(memory)?.whole?.key;
    if (key === undefined) return null;
    const json = await this.#entries.whole<string>(key, await this.#memory.kv.get(this.#user, key));
    return json === null ? null : JSON.parse(json);
  }

  /** Deletes all stored versions of a record. */
  async forget(externalId: string): Promise<void> {
    await this.#memory.kv.deletePrefix(this.#user, await prefixOf(externalId));
  }
}

const prefixOf = async (externalId: string): Promise<string> => `molroo/${await sha256Hex(externalId)}/`;
