declare namespace Cloudflare {
  /** What vitest.config.ts binds besides wrangler.toml. */
  interface Env {
    MIGRATIONS: import("cloudflare:test").D1Migration[];
    CAIRN_HISTORIES: string;
    CAIRN_FIRST_SEED: string;
    CAIRN_SEED: string;
  }
}
