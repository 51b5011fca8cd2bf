import type { Cairn, RememberBody } from "../../index.ts";

import { ENTRY_BYTES, LargeEntries } from "../entries/large-entries.ts";
import { asideOf, isRoomy, jsonOf, type Stored } from "./record.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/**
 * Records that are too large for a memory: whole, as JSON, in entries of the user. Their keys follow from what they say,
 * so two saves at once never mix, and the versions in a memory's history stay whole. The memory names the entry: who
 * forgets it deletes that too.
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

  /** The body to remember, once all that has no room in it is kept. */
  async kept(body: RememberBody, record: object): Promise<RememberBody> {
    if (isRoomy(body)) return body;
    const json = jsonOf(record);
    const key = `${await prefixOf(body.externalId ?? "")}${await sha256Hex(json)}`;
    await this.#entries.write([{ key, value: json }]);
    const { rest: _rest, ...aside } = asideOf(body) ?? {};
    return { ...body, metadata: { molroo: { ...aside, whole: { key } }, cairnEntry: key } };
  }

  /** The whole record of a memory that does not hold it; null if it does, or if somebody has deleted the entry. */
  async of(memory: Stored): Promise<unknown> {
    const key = asideOf(memory)?.whole?.key;
    if (key === undefined) return null;
    const json = await this.#entries.whole<string>(key, await this.#memory.kv.get(this.#user, key));
    return json === null ? null : JSON.parse(json);
  }

  /** Deletes what is kept of all versions of a record. */
  async forget(externalId: string): Promise<void> {
    await this.#memory.kv.deletePrefix(this.#user, await prefixOf(externalId));
  }
}

const prefixOf = async (externalId: string): Promise<string> => `molroo/${await sha256Hex(externalId)}/`;
