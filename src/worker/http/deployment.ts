import type { MiddlewareHandler } from "hono";
import { fail } from "../../domain/errors.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Refuses every call while the bindings are not those that the data were stored with: the data would seem lost. */
export const requireSameDeployment: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { deployment, now } = c.get("services");
  const problem = await deployment.refusal(now());
  if (problem !== null)
    throw new Refusal(fail("deployment_changed", { message: `Nothing is read or written: ${problem}.` }));
  await next();
};
