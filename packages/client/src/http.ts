import { pathOf, type Query } from "./address.ts";
import { Attempt } from "./attempt.ts";
import { CairnError, errorOf, networkError } from "./error.ts";
import { jsonLines } from "./lines.ts";
import { type OptionNames, requireKnownOptions } from "./known-options.ts";
import { newId } from "./new-id.ts";
import {
  type CallOptions,
  type LowerTrust,
  lowerTrusts,
  type MemoryWriteOptions,
  type ReadOptions,
} from "./options.ts";
import { delayOf, isPassing, limitsOf, type Long, type Time } from "./retry.ts";
import { Tokens } from "./tokens.ts";
import {
  type Base,
  baseOf,
  type Body,
  lengthOf,
  type Outgoing,
  type Reply,
  type Send,
  senderOf,
} from "./transport.ts";
import { inexactAsText } from "../../../src/domain/raw-values.ts";

/** A value, and the version of it that its ETag tells. */
export type Versioned<T> = { value: T; version: string };
/** An answer, and what was read of it. */
type Answer<T> = { version: string; value: T };
/** `call` is how its failures name it. */
type Read<T> = (reply: Reply, call: string, attempt: Attempt) => Promise<T>;

/** A call as a method makes it. The caller's options stand beside it, so that none of them replaces a part of it. */
type Call = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: readonly string[];
  query?: Query;
  json?: unknown;
  /** A body that is no JSON value. */
  body?: Body;
  headers?: Record<string, string | undefined>;
  /** True if it may be sent twice though the first may have been done; said where the method does not say it. */
  repeatable?: boolean;
  /** Said where the answer may take long by design. */
  long?: Long;
};

/** The end of each call, beside the limits of the options. */
type Ends = { ms: number; signal?: AbortSignal | undefined };

type Sent = Omit<Call, "body" | "path"> & CallOptions & { path: string; body: Body | undefined };

const CALL_OPTIONS: OptionNames<CallOptions> = { signal: true };

/** Sends calls to one Cairn. */
export class CairnHttp {
  readonly #options: ReadOptions;
  readonly #time: Time;
  readonly #tokens: Tokens;
  readonly #base: Base;
  readonly #send: Send;
  readonly #ends: Ends;

  constructor(
    options: ReadOptions,
    time: Time,
    {
      tokens = new Tokens(options.token ?? ""),
      ends = { ms: Infinity },
      send,
    }: { tokens?: Tokens; ends?: Ends; send?: Send } = {},
  ) {
    this.#options = options;
    this.#time = time;
    this.#tokens = tokens;
    this.#ends = ends;
    this.#base = baseOf(options.url);
    this.#send = send ?? senderOf(options, this.#base);
  }

  /** The same, each of whose calls ends within a time, whatever it waits for. */
  within(ms: number): CairnHttp {
    const retry = this.#options.retry !== false && { ...this.#options.retry, withinMs: ms };
    // One attempt may have the whole time, also where that is longer than an attempt has by the options.
    const options = { ...this.#options, attemptMs: ms, longAttemptMs: ms, retry };
    const ends = { ...this.#ends, ms: Math.min(ms, this.#ends.ms) };
    return new CairnHttp(options, this.#time, { tokens: this.#tokens, ends });
  }

  /** The same, each of whose calls ends with a signal. */
  until(signal: AbortSignal): CairnHttp {
    const ends = { ...this.#ends, signal: eitherOf(this.#ends.signal, signal) };
    return new CairnHttp(this.#options, this.#time, { tokens: this.#tokens, ends });
  }

  /** The answer's JSON; of an answer without a body, undefined. */
  async send<T>(call: Call, options: CallOptions): Promise<T> {
    return (await this.#answered(call, options, this.#json<T>)).value;
  }

  /** The same for a write with a key: a repeated request with the key returns the first answer. */
  async write<T>(
    call: Call,
    { idempotencyKey = newId(), trust, adapter, ...options }: MemoryWriteOptions,
  ): Promise<T> {
    const of = { "Idempotency-Key": idempotencyKey, "Cairn-Trust": trust, "Cairn-Adapter": adapter };
    return this.send({ ...call, headers: { ...of, ...call.headers } }, options);
  }

  /** The answer's JSON, with null for what is not there. */
  async find<T>(call: Call, options: CallOptions): Promise<T | null> {
    return (await this.versioned<T>(call, options))?.value ?? null;
  }

  /** The same, with its version. */
  async versioned<T>(call: Call, options: CallOptions): Promise<Versioned<T> | null> {
    try {
      return await this.#answered(call, options, this.#json<T>);
    } catch (error) {
      if (error instanceof CairnError && error.code === "not_found") return null;
      throw error;
    }
  }

  /** The answer's lines of JSON, as they come. Throws where the stream breaks off: it never ends short. */
  async *lines<T>(call: Call, options: CallOptions): AsyncGenerator<T, void, undefined> {
    const headers = { ...call.headers, Accept: "application/x-ndjson" };
    const { value } = await this.#streamed({ ...call, headers }, options);
    const { parts, name } = value;
    const of = { call: name, signal: eitherOf(this.#ends.signal, options.signal), parse: this.#parse };
    yield* jsonLines<T>(parts, of);
  }

  /** The answer's bytes, as they come. */
  async stream(call: Call, options: CallOptions): Promise<ReadableStream<Uint8Array>> {
    const { parts, body } = (await this.#streamed(call, options)).value;
    return streamOf(parts, body);
  }

  readonly #parse = (json: string): unknown =>
    JSON.parse(this.#options.largeNumbers === "text" ? inexactAsText(json) : json);

  readonly #json = async <T>(reply: Reply, call: string, attempt: Attempt): Promise<T> => {
    const text = await attempt.text(reply);
    try {
      // The shape is the server's promise: both sides take it from the same schemas. No text is what a void call gets.
      return (text === "" ? undefined : this.#parse(text)) as T;
    } catch {
      throw new CairnError(
        { code: "no_envelope", message: `HTTP ${reply.status}: the answer is not JSON` },
        { status: reply.status, call },
      );
    }
  };

  #streamed(call: Call, options: CallOptions) {
    return this.#answered({ ...call, long: true }, options, async (reply, name, attempt) => {
      const body = streamIn(reply);
      return { parts: attempt.parts(body), body, name };
    });
  }

  /** Sends until there is an answer, or a failure that another try would not mend, or not safely. */
  async #answered<T>(call: Call, options: CallOptions, read: Read<T>): Promise<Answer<T>> {
    // An ignored `signal` or key would be noticed too late.
    requireKnownOptions("cairn", options, CALL_OPTIONS);
    const signal = eitherOf(this.#ends.signal, options.signal);
    const { ms: endsMs } = this.#ends;
    const { retry = {} } = this.#options;
    const path = pathOf(call.path, call.query);
    const body = bodyOf(call);
    const started = this.#time.now();
    for (let attempt = 1; ; attempt++) {
      const elapsedMs = this.#time.now() - started;
      const so = { attempt, elapsedMs, endsMs, long: call.long, bytes: lengthOf(body?.of) };
      const one = new Attempt(this.#time, limitsOf(this.#options, so), signal);
      try {
        return await this.#authorized({ ...call, path, body, signal }, read, one);
      } catch (error) {
        // An earlier try deleted it, and its answer was lost. What can be missing is deleted without a word: no T.
        if (attempt > 1 && call.method === "DELETE" && isNotFound(error))
          return { version: "", value: undefined as T };
        // The reason of a signal may be any error, and so one that looks passing.
        if (retry === false || signal?.aborted === true || !isRepeatable(call) || !isPassing(error))
          throw error;
        const past = { attempt, elapsedMs: this.#time.now() - started, endsMs, retryAfter: error.retryAfter };
        const delay = delayOf(past, retry, this.#time.random);
        if (delay === null) throw error;
        await this.#time.sleep(delay, signal);
      }
    }
  }

  /** Sends with a token, and once more where that holds no longer: such a call was refused before it did anything. */
  async #authorized<T>(call: Sent, read: Read<T>, attempt: Attempt): Promise<Answer<T>> {
    call.signal?.throwIfAborted();
    if (this.#options.binding !== undefined)
      return this.#sent(this.#outgoing(call, undefined, attempt), read, attempt);
    const token = await attempt.step(() => this.#tokens.get());
    try {
      return await this.#sent(this.#outgoing(call, token, attempt), read, attempt);
    } catch (error) {
      if (!isOver(error) || !this.#tokens.renewable) throw error;
      const renewed = await attempt.step(() => this.#tokens.get(token));
      return this.#sent(this.#outgoing(call, renewed, attempt), read, attempt);
    }
  }

  async #sent<T>(call: Outgoing, read: Read<T>, attempt: Attempt): Promise<Answer<T>> {
    const { origin, pathname } = this.#base;
    const [path] = `${pathname}${call.path}`.split("?", 1);
    // With the origin only while that may be wrong.
    attempt.call = `${call.method} ${this.#options.url === undefined ? "" : origin}${path}`;
    const name = `${call.method} ${path}`;
    try {
      const reply = await attempt.step(() => this.#send(call));
      if (!reply.ok)
        throw errorOf(reply, { text: await attempt.text(reply), call: name, now: this.#time.now() });
      const version = (reply.headers.get("ETag") ?? "").replace(/^(W\/)?"|"$/g, "");
      return { version, value: await read(reply, name, attempt) };
    } catch (error) {
      if (error instanceof CairnError) throw error;
      attempt.signal.throwIfAborted();
      throw networkError(error, attempt.call);
    }
  }

  #outgoing(call: Sent, token: string | undefined, { signal }: Attempt): Outgoing {
    const { method, path, body, headers: more = {} } = call;
    const { namespace, location, trust } = this.#options;
    const headers: Record<string, string> = {};
    if (namespace !== undefined) headers["Cairn-Namespace"] = namespace;
    if (location !== undefined) headers["Cairn-Location"] = location;
    for (const [name, value] of Object.entries(more)) if (value !== undefined) headers[name] = value;
    if (isLower(trust, headers["Cairn-Trust"])) headers["Cairn-Trust"] = trust;
    return { method, path, headers, body, token, signal };
  }
}

/** The body of a call. A value without JSON is refused, and not sent as no body. */
function bodyOf(call: Call): Body | undefined {
  return "json" in call ? { of: jsonTextOf(call.json), type: "application/json" } : call.body;
}

/** A signal that aborts with the first of two. */
function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);
}

/** The body of an answer as a stream. */
function streamIn({ body }: Reply): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body;
  // A copy of bytes, in no shared memory.
  return new Blob([typeof body === "string" ? body : (body ?? new Uint8Array()).slice()]).stream();
}

/** The parts of a body as a stream, which reads no part ahead. */
const streamOf = (
  parts: AsyncGenerator<Uint8Array, void>,
  body: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await parts.return();
        // Parts of which none was asked for have not begun, and let go of nothing.
        if (!body.locked) await body.cancel();
      },
    },
    { highWaterMark: 0 },
  );

/** JSON of a body. Throws a `TypeError` for a value without JSON: undefined, or a function. */
function jsonTextOf(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`cairn: the value is ${typeof value}, which has no JSON`);
  return text;
}

/** True if the same call may be sent again after it may have been done. */
function isRepeatable({ method, headers = {}, repeatable }: Call): boolean {
  if (repeatable !== undefined) return repeatable;
  if (headers["Idempotency-Key"] !== undefined) return true;
  // The first try may be what makes the second one's condition false.
  if ((headers["If-Match"] ?? headers["If-None-Match"]) !== undefined) return false;
  return method === "GET" || method === "PUT" || method === "DELETE";
}

const isOver = (error: unknown): boolean =>
  error instanceof CairnError && (error.code === "token_expired" || error.code === "token_revoked");

const isNotFound = (error: unknown): boolean => error instanceof CairnError && error.code === "not_found";

/** True if the client's trust is below that of the call. */
const isLower = (trust: LowerTrust | undefined, called: string | undefined): trust is LowerTrust =>
  trust !== undefined && lowerTrusts.indexOf(trust) > lowerTrusts.findIndex((one) => one === called);
