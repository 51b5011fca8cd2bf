import { sha256Hex } from "../../../../src/domain/hash.ts";

/**
 * Where the checkpoints of one LangGraph thread are, in keys of entries. All parts are ASCII, so that the order of keys is
 * that of JavaScript's strings too.
 *
 * - `<thread>/c/<namespace>/<checkpoint>`: a checkpoint without the values of its channels
 * - `<thread>/v/<namespace>/<channel>/<version>`: a version of a channel's value
 * - `<thread>/w/<namespace>/<checkpoint>/<task>/<slot>`: what a task wrote on top of a checkpoint
 *
 * A checkpoint's part is its id, turned over: the last id comes first.
 */
export class CheckpointKeys {
  /** Everything of the thread is under this. */
  readonly all: string;

  private constructor(all: string) {
    this.all = all;
  }

  static async of(prefix: string, threadId: string): Promise<CheckpointKeys> {
    return new CheckpointKeys(`${prefix}${await part(threadId)}/`);
  }

  /** What all checkpoints of the thread are under, or those of one namespace. */
  async checkpoints(namespace?: string): Promise<string> {
    return `${this.all}c/${namespace === undefined ? "" : `${await part(namespace)}/`}`;
  }

  async checkpoint(namespace: string, id: string): Promise<string> {
    return `${await this.checkpoints(namespace)}${turned(id)}`;
  }

  /** The same for what was written on top of them. */
  async allWrites(namespace?: string): Promise<string> {
    return `${this.all}w/${namespace === undefined ? "" : `${await part(namespace)}/`}`;
  }

  async writes(namespace: string, id: string): Promise<string> {
    return `${await this.allWrites(namespace)}${turned(id)}/`;
  }

  async taskWrites(
    { namespace, id }: { namespace: string; id: string },
    taskId: string,
    slot: number,
  ): Promise<string> {
    return `${await this.writes(namespace, id)}${await part(taskId)}/${slot}`;
  }

  async channel(namespace: string, channel: string, version: string | number): Promise<string> {
    const parts = await Promise.all([namespace, channel, String(version)].map(part));
    return `${this.all}v/${parts.join("/")}`;
  }

  /** What the key of a checkpoint, or of writes on top of it, says of which checkpoint that is. */
  checkpointIn(key: string): string {
    const [namespace, id] = key.slice(this.all.length + 2).split("/");
    return `${namespace}/${id}`;
  }
}

/** The first part of the keys of a thread that has a checkpoint, from the key of one. */
export function threadIn(prefix: string, key: string): string | undefined {
  const [thread, kind] = key.slice(prefix.length).split("/");
  return kind === "c" ? thread : undefined;
}

/** More characters than this become a hash: a key holds 1,024 bytes, and a checkpoint's has four parts. */
const PART = 160;

async function part(name: string): Promise<string> {
  // No URL holds half of a surrogate pair; JSON does, escaped. No encoded name holds these signs.
  const [sign, text] = name.isWellFormed() ? ["", name] : ["=", JSON.stringify(name)];
  const encoded = sign + encodeURIComponent(text);
  return encoded.length <= PART ? encoded : `#${sign}${await sha256Hex(text)}`;
}

const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Sorts the other way round; the end sorts behind every digit, so that an id comes before its own beginning. */
const turned = (id: string): string => `${hexOf(new TextEncoder().encode(id).map((byte) => 255 - byte))}z`;
