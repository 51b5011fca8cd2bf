import type { Bytes } from "../../../src/domain/binding.ts";
import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { Imported, Restore, RestoreBody } from "./shapes.ts";

/** Export and import of a user's data as JSON lines (docs/reference/export.md). */
export class Transfer {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Returns the export as a stream of bytes. It is complete if its last line has the type `end`. */
  export(user: string, options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#http.stream({ method: "GET", path: ["v1", "users", user, "export"] }, options);
  }

  /**
   * Lists what it would do to set a user back to a time of the last 30 days; `dryRun: false` does it. Needs a token of `*` with the scope `admin`. A repeated
   * call goes on with a restore that is `running`.
   */
  restore(user: string, body: RestoreBody, options: CallOptions = {}): Promise<Restore> {
    const path = ["v1", "users", user, "restore"];
    return this.#http.send({ method: "POST", path, json: body, repeatable: true, long: true }, options);
  }

  /**
   * Imports an export, or a `part` of one. Existing data stays, so a repeated import is safe. Rejects a truncated export
   * with status 400; a part is not checked for missing lines. `leftOut` in the answer lists the data not imported.
   */
  async import(
    user: string,
    exported: Blob | Bytes | string,
    { part = false, ...options }: CallOptions & { part?: boolean } = {},
  ): Promise<Imported> {
    if (!(typeof exported === "string" || exported instanceof Uint8Array || exported instanceof Blob))
      throw new TypeError("cairn: an import takes a text, a Uint8Array or a Blob");
    const body = { of: exported, type: "application/x-ndjson" };
    const path = ["v1", "users", user, "import"];
    return this.#http.send(
      { method: "POST", path, body, ...(part && { query: { part } }), repeatable: true, long: true },
      options,
    );
  }
}
