import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "./context.ts";

/** Something that is done, or asked, before a request goes on; it throws a `Refusal` where it ends there. */
export type Step = (c: Context<AppEnv>) => void | Promise<void>;

/** Steps as one middleware, in their order. Hono's way from one middleware to the next costs more than most steps do. */
export const inOrder = (...steps: readonly Step[]): MiddlewareHandler<AppEnv> =>
  async function stepsInOrder(c, next) {
    for (const step of steps) {
      const pending = step(c);
      if (pending !== undefined) await pending;
    }
    await next();
  };
