declare namespace Cloudflare {
  /** The bindings of vitest.config.ts besides those of wrangler.toml. */
  interface Env {
    MIGRATIONS: import("cloudflare:test").D1Migration[];
    TEST_RATE: RateLimit;
    CAIRN_HISTORIES: string;
    CAIRN_FIRST_SEED: string;
    CAIRN_SEED: string;
  }
}

/** A file as its text. */
declare module "*?raw" {
  const text: string;
  export default text;
}
