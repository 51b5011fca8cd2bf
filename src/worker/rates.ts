/** Counters of the platform; null where none is bound, and nothing is counted. */
export type RateLimits = {
  /** By the user of the token. */
  caller: RateLimit | null;
  /** By the user whose memory a call is about. */
  user: RateLimit | null;
};
