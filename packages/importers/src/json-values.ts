// The values of a JSON file one by one, so that a file of any size needs the memory of its largest value.
import { CannotGoOn } from "../../cli/transfer/cairn.ts";

/** `path`: where the value is in its file, as `[3]` or `results[3]`. Empty for a file that is one object. */
export type JsonValue = { path: string; value: unknown };

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const BOM = [0xef, 0xbb, 0xbf];

/**
 * Yields the elements of a list, or of the lists in an object whose names are among `lists`; an object without such a
 * list as a whole. A file may hold several of them, such as one object per line. Throws `CannotGoOn` for what is no JSON.
 */
export async function* jsonValues(
  chunks: AsyncIterable<Uint8Array>,
  { file, lists }: { file: string; lists: ReadonlySet<string> },
): AsyncGenerator<JsonValue, void> {
  const input = new JsonInput(chunks, file);
  await input.skipMark();
  for (let n = 0; ; n++) {
    const first = await input.peek();
    if (first === null && n === 0) throw new CannotGoOn(`${file} is empty.`);
    if (first === null) return;
    if (first === OPEN_LIST) yield* elementsOf(input, "");
    else if (first === OPEN_OBJECT) yield* membersOf(input, { lists, path: n === 0 ? "" : `[${n}]` });
    else throw input.wrong("a list or an object is expected");
  }
}

async function* elementsOf(input: JsonInput, path: string): AsyncGenerator<JsonValue, void> {
  await input.take(OPEN_LIST);
  if (await input.takeIf(CLOSE_LIST)) return;
  for (let i = 0; ; i++) {
    yield { path: `${path}[${i}]`, value: await input.value() };
    if (await input.takeIf(CLOSE_LIST)) return;
    await input.take(COMMA);
  }
}

async function* membersOf(
  input: JsonInput,
  { lists, path }: { lists: ReadonlySet<string>; path: string },
): AsyncGenerator<JsonValue, void> {
  const members: [string, unknown][] = [];
  let isWrapper = false;
  await input.take(OPEN_OBJECT);
  for (let more = !(await input.takeIf(CLOSE_OBJECT)); more;) {
    if ((await input.peek()) !== QUOTE) throw input.wrong("a name is expected");
    const name = String(await input.value());
    await input.take(COLON);
    if (lists.has(name) && (await input.peek()) === OPEN_LIST) {
      isWrapper = true;
      yield* elementsOf(input, path === "" ? name : `${path}.${name}`);
    } else members.push([name, await input.value()]);
    more = !(await input.takeIf(CLOSE_OBJECT));
    if (more) await input.take(COMMA);
  }
  if (!isWrapper) yield { path, value: Object.fromEntries(members) };
}

/** The bytes of a file, read value by value. */
class JsonInput {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #file: string;
  #chunk: Uint8Array = new Uint8Array();
  #at = 0;
  /** Bytes of the former chunks. */
  #before = 0;

  constructor(chunks: AsyncIterable<Uint8Array>, file: string) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#file = file;
  }

  /** Skips a byte order mark. */
  async skipMark(): Promise<void> {
    for (const byte of BOM) if ((await this.#fill()) && this.#chunk[this.#at] === byte) this.#at++;
  }

  /** The next byte that is no white space, which stays; null at the end. */
  async peek(): Promise<number | null> {
    while (await this.#fill()) {
      const byte = this.#chunk[this.#at];
      if (byte !== undefined && !SPACES.has(byte)) return byte;
      this.#at++;
    }
    return null;
  }

  async takeIf(wanted: number): Promise<boolean> {
    if ((await this.peek()) !== wanted) return false;
    this.#at++;
    return true;
  }

  async take(wanted: number): Promise<void> {
    if (!(await this.takeIf(wanted))) throw this.wrong(`'${String.fromCharCode(wanted)}' is expected`);
  }

  /** The next value, whole. */
  async value(): Promise<unknown> {
    const first = await this.peek();
    if (first === null) throw this.wrong("a value is expected");
    const bytes = await this.#bytesOfValue(first === OPEN_LIST || first === OPEN_OBJECT, first === QUOTE);
    try {
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch (error) {
      throw this.wrong(error instanceof SyntaxError ? error.message : "the text is not UTF-8");
    }
  }

  wrong(what: string): CannotGoOn {
    const end = this.#at >= this.#chunk.length ? ", at its end: the file is not whole" : "";
    return new CannotGoOn(`${this.#file} is not JSON at byte ${this.#before + this.#at}${end}: ${what}.`);
  }

  async #bytesOfValue(nested: boolean, quoted: boolean): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let depth = 0;
    let inString = false;
    let escaped = false;
    while (await this.#fill()) {
      const chunk = this.#chunk;
      const start = this.#at;
      let at = start;
      let done = false;
      for (; at < chunk.length && !done; at++) {
        const byte = chunk[at] ?? 0;
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) {
            inString = false;
            done = quoted;
          }
        } else if (byte === QUOTE) inString = true;
        else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
        else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
          depth--;
          done = nested && depth === 0;
        }
        // A number or a word ends before what separates it from the next value.
        if (!nested && !quoted && (byte === COMMA || SPACES.has(byte) || depth < 0)) break;
      }
      parts.push(chunk.subarray(start, at));
      this.#at = at;
      if (done || at < chunk.length) return parts.length === 1 ? (parts[0] ?? chunk) : Buffer.concat(parts);
    }
    if (nested || quoted) throw this.wrong("a value does not end");
    return Buffer.concat(parts);
  }

  /** True if there is another byte. */
  async #fill(): Promise<boolean> {
    while (this.#at >= this.#chunk.length) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#before += this.#chunk.length;
      [this.#chunk, this.#at] = [next.value, 0];
    }
    return true;
  }
}
