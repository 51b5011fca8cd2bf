/** Sends one request: the global `fetch`, a service binding, a Hono app, a double in a test. */
export type Fetch = (request: Request) => Response | Promise<Response>;

/** What the call is sent through: a `fetch`, or what has one, as a service binding. */
export type Transport = Fetch | { fetch: Fetch };

/** A token, or what gives one: asked for the first call, and again when Cairn says that the last one holds no longer. */
export type Token = string | (() => string | Promise<string>);

export type RetryOptions = {
  /** How often a call is sent in all; 4 unless set. */
  attempts?: number;
  /** A call is not sent again once so many milliseconds have passed; 30,000 unless set. */
  withinMs?: number;
};

type Shared = {
  token: Token;
  /** Keeps this app's registry entries apart from those of others with the same token: to 256 bytes of ASCII. */
  namespace?: string;
  /** How calls are sent again that may be; `false`: never. */
  retry?: RetryOptions | false;
  /** Keeps a Worker alive for what `later` began: `(promise) => ctx.waitUntil(promise)`. */
  waitUntil?: (promise: Promise<unknown>) => void;
  /** Is told of what fails in `later`; `console.error` unless set. */
  onLaterError?: (error: unknown) => void;
};

export type CairnOptions = Shared &
  (
    | {
        /** Where Cairn runs, as in `https://example.com/memory`. */
        url: string;
        /** The global one unless set. */
        fetch?: Transport;
      }
    | { url?: string; fetch: Transport }
  );

/** What every call takes as its last argument. */
export type CallOptions = {
  /** Ends the call, also while it waits to be sent again; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
};

/** The same of a write that takes an `Idempotency-Key`. */
export type WriteOptions = CallOptions & {
  /** The same key with the same request is done once and answered alike, for 24 hours; made anew for each call unless set. */
  idempotencyKey?: string | undefined;
};

/** Only if what is there has this version; null: only if there is nothing. */
export type IfVersion = { ifVersion?: string | null | undefined };
