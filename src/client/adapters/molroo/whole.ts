import type { Cairn, RememberBody } from "../../index.ts";

import { sha256 } from "../bytes/sha256.ts";
import { asideOf, isRoomy, jsonOf, type Stored } from "./record.ts";

/** Characters of one entry: as JSON at most 6 bytes each, within the 1 MiB that a value may have. */
const PIECE = 128 * 1024;

/**
 * Records that are too large for a memory: whole, as JSON, in entries of the user. Their keys follow from what they say,
 * so two saves at once never mix, and the versions in a memory's history stay whole.
 */
export class Whole {
  readonly #memory: Cairn;
  readonly #user: string;

  constructor(memory: Cairn, user: string) {
    this.#memory = memory;
    this.#user = user;
  }

  /** The body to remember, once all that has no room in it is kept. */
  async kept(body: RememberBody, record: object): Promise<RememberBody> {
    if (isRoomy(body)) return body;
    const json = jsonOf(record);
    const key = `${await prefixOf(body.externalId ?? "")}${await sha256(json)}`;
    const pieces = Math.ceil(json.length / PIECE);
    for (let i = 0; i < pieces; i++)
      await this.#memory.kv.set(this.#user, `${key}/${i}`, json.slice(i * PIECE, (i + 1) * PIECE));
    const { rest: _rest, ...aside } = asideOf(body) ?? {};
    return { ...body, metadata: { molroo: { ...aside, whole: { key, pieces } } } };
  }

  /** The whole record of a memory that does not hold it; null if it does, or if somebody has deleted the entries. */
  async of(memory: Stored): Promise<unknown> {
    const whole = asideOf(memory)?.whole;
    if (whole === undefined) return null;
    const keys = Array.from({ length: whole.pieces }, (_, i) => `${whole.key}/${i}`);
    const pieces = await Promise.all(keys.map((key) => this.#memory.kv.get<string>(this.#user, key)));
    return pieces.includes(null) ? null : JSON.parse(pieces.join(""));
  }

  /** Deletes what is kept of all versions of a record. */
  async forget(externalId: string): Promise<void> {
    await this.#memory.kv.deletePrefix(this.#user, await prefixOf(externalId));
  }
}

const prefixOf = async (externalId: string): Promise<string> => `molroo/${await sha256(externalId)}/`;
