import { sha256Hex } from "../../../../src/domain/hash.ts";

/**
 * The keys of the entries of one LangGraph thread. All parts are ASCII, so that byte order is also the order of
 * JavaScript's strings.
 *
 * - `<thread>/c/<namespace>/<checkpoint>`: a checkpoint, with the small ones of the values that it changed
 * - `<thread>/c/<namespace>/<checkpoint>/<task>/<slot>`: what a task wrote on top of it
 * - `<thread>/v/<namespace>/<channel>/<version>`: a version of a channel's value
 *
 * A checkpoint's part is its id, turned over: the last id comes first, and its writes follow it.
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

  /** The prefix of the writes on top of a checkpoint. */
  async writes(namespace: string, id: string): Promise<string> {
    return `${await this.checkpoint(namespace, id)}/`;
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

  /** The key of the checkpoint that this key is of, or is of a write on top of. */
  checkpointIn(key: string): string {
    return key.split("/", this.#depth).join("/");
  }

  /** The parts of a checkpoint's key: those of the thread, `c`, the namespace and the id. */
  get #depth(): number {
    return this.all.split("/").length + 2;
  }
}

/** The thread's part of a checkpoint's key; undefined for other keys, those of writes among them. */
export function threadIn(prefix: string, key: string): string | undefined {
  const [thread, kind, ...parts] = key.slice(prefix.length).split("/");
  return kind === "c" && parts.length === 2 ? thread : undefined;
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
