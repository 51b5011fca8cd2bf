import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { isShared } from "../../domain/token.ts";
import { mayRead, wordOf } from "../auth/claims.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";
import { countUsers } from "./rates.ts";

/**
 * Counts a call against the rates of the shared owners that it reads. Answers 404 for an owner that the token does not name,
 * as for one that does not exist.
 */
export async function readOwners(c: Context<AppEnv>, owners: readonly string[] = []): Promise<void> {
  const at = owners.findIndex((owner) => !isShared(owner) || !mayRead(c.get("caller"), owner));
  const message = `is not a shared owner (\`shared:…\`) that this ${wordOf(c.get("caller"))} may read`;
  if (at >= 0) throw new Refusal(fail("not_found", { details: [{ path: `body.owners[${at}]`, message }] }));
  await countUsers(c, owners);
}
