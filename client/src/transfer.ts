import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { Imported } from "./shapes.ts";

/** Everything of a user's, out and in, as lines of JSON (docs/export.md). */
export class Transfer {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** A stream of bytes. It is whole if its last line is of the type `end`. */
  export(user: string, options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#http.stream({ method: "GET", path: ["v1", "users", user, "export"], ...options });
  }

  /**
   * Takes an export in, or a `part` of one. What is there stays as it is, so the same may be sent again. Rejects one that is
   * cut off, or lacks a line (400), but of parts nobody finds that out; `leftOut` in the answer is what did not come back.
   */
  import(
    user: string,
    exported: Blob | Uint8Array<ArrayBuffer> | string,
    { part = false, ...options }: CallOptions & { part?: boolean } = {},
  ): Promise<Imported> {
    const body = { of: exported, type: "application/x-ndjson" };
    const path = ["v1", "users", user, "import"];
    return this.#http.send({
      method: "POST",
      path,
      body,
      ...(part && { query: { part } }),
      repeatable: true,
      ...options,
    });
  }
}
