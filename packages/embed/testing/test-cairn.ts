export type TestCairnOptions = {
  /** The secret that signs tokens, for a test that mints its own: 32 bytes or more. Random unless set. */
  secret?: string;
  /** Its clock, in milliseconds since the epoch; `Date.now` unless set, as it is when it is asked. */
  now?: () => number;
};

/** The scopes of a token, its life in milliseconds (ten years unless set), and the shared owners that it reads. */
export type TestTokenOptions = {
  scope?: readonly ("read" | "write" | "cache" | "admin")[];
  ttlMs?: number;
  shared?: readonly string[];
};

/** A Cairn of a test's own, empty at first. */
export type TestCairn = {
  /** To be given to a client as its `fetch`; any host does. */
  fetch: (request: Request) => Promise<Response>;
  /** A token of this user, or of all users (`*`); for everything unless `scope` says less. */
  token: (user: string, options?: TestTokenOptions) => Promise<string>;
  /** Puts its clock forward by so many milliseconds, and does what is due by then: what expires, and what waits. */
  advance: (ms: number) => Promise<void>;
  /** Does what waits to be done soon, as embedding what was said. */
  settle: () => Promise<void>;
  /** Lets go of its memory and timers. */
  close: () => void;
};
