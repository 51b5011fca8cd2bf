import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Refuses every call while the bindings are not those that the data were stored with: they would seem lost. */
export function demandSameDeployment(c: Context<AppEnv>): Promise<void> | void {
  const { deployment, now } = c.get("services");
  const refusal = deployment.refusal(now());
  if (refusal !== null) return refuse(refusal);
}

async function refuse(refusal: Promise<string | null>): Promise<void> {
  const problem = await refusal;
  if (problem !== null)
    throw new Refusal(fail("deployment_changed", { message: `Nothing is read or written: ${problem}.` }));
}
