import { sha256Hex } from "../../../../src/domain/hash.ts";

/**
 * The keys of the entries of one LangGraph thread. All parts are ASCII, so that byte order is also the order of
 * JavaScript's strings.
 *
 * - `<thread>/c/<namespace>/<checkpoint>`: a checkpoint without the values of its channels
 * - `<thread>/v/<namespace>/<channel>/<version>`: a version of a channel's value
 * - `<thread>/w/<namespace>/<checkpoint>/<task>/<slot>`: what a task wrote on top of a checkpoint
 *
 * A checkpoint's part is its id, turned over: the last id comes first.
 */
export class CheckpointKeys {
  /** The prefix of all entries of the thread. */
  readonly all: string;

  private constructor(all: string) {
    this.all = all;
  }

  static async of(prefix: string, threadId: string): Promise<CheckpointKeys> {
    return new CheckpointKeys(`${prefix}${await part(threadId)}/`);
  }

  /** The prefix of all checkpoints of the thread, or of those of one namespace. */
  async checkpoints(namespace?: string): Promise<string> {
    return `${this.all}c/${namespace === undefined ? "" : `${await part(namespace)}/`}`;
  }

  async checkpoint(namespace: string, id: string): Promise<string> {
    return `${await this.checkpoints(namespace)}${turned(id)}`;
  }

  /** The prefix of all writes, likewise. */
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

  /** Identifies the checkpoint in the key of a checkpoint or of its writes. */
  checkpointIn(key: string): string {
    const [namespace, id] = key.slice(this.all.length + 2).split("/");
    return `${namespace}/${id}`;
  }
}

/** The thread's part of a checkpoint's key; undefined for other keys. */
export function threadIn(prefix: string, key: string): string | undefined {
  const [thread, kind] = key.slice(prefix.length).split("/");
  return kind === "c" ? thread : undefined;
}

/** The longest part in characters; longer ones are hashed. A key has 1,024 bytes, and a checkpoint's has four parts. */
const PART = 160;

async function part(name: string): Promise<string> {
  // No URL holds a lone surrogate; JSON escapes it. No encoded name has these signs.
  const [sign, text] = name.isWellFormed() ? ["", name] : ["=", JSON.stringify(name)];
  const encoded = sign + encodeURIComponent(text);
  return encoded.length <= PART ? encoded : `#${sign}${await sha256Hex(text)}`;
}

const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Reverses the sort order. The end marker sorts after every digit, so an id precedes its own beginning. */
const turned = (id: string): string => `${hexOf(new TextEncoder().encode(id).map((byte) => 255 - byte))}z`;
