import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import type { Ingest } from "./shapes.ts";

/** The progress of ingests, which `Cairn.ingest` starts. */
export class Ingests {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Returns the progress of an ingest and its results; null if there is none, or if it ended more than seven days ago. */
  get(id: string, options: CallOptions = {}): Promise<Ingest | null> {
    return this.#http.find({ method: "GET", path: ["v1", "ingests", id] }, options);
  }

  /** Extracts again what failed. A complete ingest stays as it is. */
  retry(id: string, options: CallOptions = {}): Promise<Ingest> {
    const path = ["v1", "ingests", id, "retry"];
    return this.#http.send({ method: "POST", path, repeatable: true }, options);
  }
}
