import type { BindingAnswer, BindingCall } from "../../../src/domain/binding.ts";
import type { Location } from "../../../src/domain/location.ts";

/** Sends one request. The global `fetch` is one; so is the `fetch` of a Hono app or a test double. */
export type Fetch = (request: Request) => Response | Promise<Response>;

/** A `fetch`, or an object with one, such as a service binding. */
export type Transport = Fetch | { fetch: Fetch };

/**
 * A token, or a function that returns one. The client runs the function before the first call, and again after
 * `token_expired` or `token_revoked`.
 */
export type Token = string | (() => string | Promise<string>);

/** Limits of retries. A retry waits with exponential back-off and jitter, and at least as long as `Retry-After`. */
export type RetryOptions = {
  /** Number of attempts, the first included. Default 4. */
  attempts?: number;
  /** Milliseconds from the first attempt within which a retry ends, unless the call takes long. Default 30,000. */
  withinMs?: number;
};

/** Limits of attempts, in milliseconds. */
export type AttemptOptions = {
  /** The longest wait for an answer, and for each next part of it; and a second for each 256 KB of the body. Default 10,000. */
  attemptMs?: number;
  /** The same for what takes long: exports, imports, streams, `mode: "wait"`. Default 120,000. */
  longAttemptMs?: number;
  /** Limits of retries; `false` turns them off. */
  retry?: RetryOptions | false;
};

/** A trust below that of a token, the highest first. */
export const lowerTrusts = ["model", "tool", "import"] as const;
export type LowerTrust = (typeof lowerTrusts)[number];

/** A service binding to the entrypoint `Memory` of Cairn (docs/guides/binding.md). */
export type Binding = { call: (call: BindingCall) => Promise<BindingAnswer> };

type Shared = AttemptOptions & {
  /** Separates this app's registry entries from those of other apps with the same token. ASCII, 256 bytes at most. */
  namespace?: string;
  /** The place of a user's object, if a call is the user's first. It never moves. Default: near the call. */
  location?: Location;
  /** Lowers the trust in what this client writes, which is that of its token otherwise. */
  trust?: LowerTrust;
  /**
   * `"text"` reads an integer that JavaScript would round (above 2 ** 53) as a string of its digits, which the server keeps.
   * Rounded unless set.
   */
  largeNumbers?: "text";
  /** Keeps a Worker alive until the work of `later` ends: `(promise) => ctx.waitUntil(promise)`. */
  waitUntil?: (promise: Promise<unknown>) => void;
  /** Receives errors of the work given to `later`. Default `console.error`. */
  onLaterError?: (error: unknown) => void;
};

type OverHttp = {
  /** Authorizes every call. */
  token: Token;
} & (
  | {
      /** The address of Cairn over HTTP or HTTPS, such as `https://example.com/memory`. */
      url: string;
      /** Sends the requests. Default: the global `fetch`. */
      fetch?: Transport;
    }
  | { url?: string; fetch: Transport }
);

type OverBinding = {
  /** Reaches Cairn in the same account. Its props say who calls, so there is no token. */
  binding: Binding;
};

/** Options of `cairn`: a `url`, a `fetch`, or both, with a token; or a `binding`. */
export type CairnOptions = Shared & (OverHttp | OverBinding);

/** Any of these options, as they are read. */
export type ReadOptions = Shared & {
  binding?: Binding;
  token?: Token;
  url?: string;
  fetch?: Transport;
};

/** Options of every call, its last argument. */
export type CallOptions = {
  /** Aborts the call, also while it waits for a retry. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
};

/** Options of a write that takes an `Idempotency-Key`. */
export type WriteOptions = CallOptions & {
  /** A repeated request with the same key returns the first answer, for 24 hours. Default: a new key for each call. */
  idempotencyKey?: string | undefined;
};

/** Options of a write of memories. */
export type MemoryWriteOptions = WriteOptions & {
  /** Lowers the trust in this write. */
  trust?: LowerTrust | undefined;
  /** The adapter that writes, which the memory records. */
  adapter?: string | undefined;
};

/** A condition of a write: the stored value has this version, or, with null, nothing is stored. */
export type IfVersion = { ifVersion?: string | null | undefined };
