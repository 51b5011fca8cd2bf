import type { Context } from "hono";
import type { AppEnv } from "./context.ts";

/** Keeps the request alive for work that never rejects. */
export function afterAnswer(c: Context<AppEnv>, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // Tests call an app without an execution context; the work goes on by itself.
  }
}
