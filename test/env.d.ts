declare namespace Cloudflare {
  /** What vitest.config.ts binds besides wrangler.toml. */
  interface Env {
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
}
