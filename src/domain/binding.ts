/** `Uint8Array<ArrayBuffer>`, by a name that TypeScript has before 5.7, too: the package publishes it. */
export type Bytes = ReturnType<Uint8ArrayConstructor["from"]>;

/** A call over a service binding: what its route takes over HTTP, as plain data. No token: the binding's props say who calls. */
export type BindingCall = {
  method: string;
  /** The path and the query, percent-encoded: `/v1/users/alice/recall`. */
  path: string;
  headers?: Record<string, string>;
  /** JSON is a text; what is read as it comes is a stream, or bytes. */
  body?: string | Bytes | ReadableStream<Uint8Array>;
};

/** The answer of a route. */
export type BindingAnswer = {
  status: number;
  /** By their names in lower case. */
  headers: Record<string, string>;
  /** A text or its UTF-8, or a stream where the route answers with one. */
  body: string | Uint8Array | ReadableStream<Uint8Array> | null;
};
