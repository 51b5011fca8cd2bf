type Entry = { dtype: string; shape: number[]; data_offsets: [from: number, to: number] };

/** A file of the safetensors format: eight bytes of header length, a JSON header, then the tensors' bytes. Nothing is copied. */
export class Safetensors {
  readonly #buffer: ArrayBuffer;
  readonly #data: number;
  readonly #entries: Record<string, Entry>;

  /** `at`: where the file begins in the buffer, at a multiple of 16. */
  constructor(buffer: ArrayBuffer, at = 0) {
    const headerLength = Number(new DataView(buffer).getBigUint64(at, true));
    const header = new TextDecoder().decode(new Uint8Array(buffer, at + 8, headerLength));
    this.#buffer = buffer;
    this.#data = at + 8 + headerLength;
    this.#entries = JSON.parse(header) as Record<string, Entry>;
  }

  shape(name: string): readonly number[] {
    return this.#entry(name).shape;
  }

  int8(name: string): Int8Array<ArrayBuffer> {
    const [from, to] = this.#entry(name, "I8").data_offsets;
    return new Int8Array(this.#buffer, this.#data + from, to - from);
  }

  /** Throws a RangeError unless the tensor begins at a multiple of four. */
  float32(name: string): Float32Array<ArrayBuffer> {
    const [from, to] = this.#entry(name, "F32").data_offsets;
    return new Float32Array(this.#buffer, this.#data + from, (to - from) / 4);
  }

  #entry(name: string, dtype?: string): Entry {
    const entry = Object.hasOwn(this.#entries, name) ? this.#entries[name] : undefined;
    if (entry === undefined || (dtype ?? entry.dtype) !== entry.dtype)
      throw new Error(`the embedded model is torn: it has no ${dtype ?? ""} tensor '${name}'`);
    return entry;
  }
}
