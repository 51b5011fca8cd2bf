import type { Context } from "hono";
import type { AppEnv } from "./context.ts";

/** Notes how long a part of an answer took, for the answer's `Server-Timing`. */
export async function wrapTime<T>(c: Context<AppEnv>, name: string, work: Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await work;
  } finally {
    const part = `${name};dur=${(performance.now() - started).toFixed(1)}`;
    const before = c.get("timings");
    c.set("timings", before === undefined ? part : `${before},${part}`);
  }
}
