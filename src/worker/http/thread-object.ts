import type { Context } from "hono";
import type { UserMemoryRpc } from "../../../durable-objects/user-memory/contract.ts";
import { fail } from "../../domain/errors.ts";
import { threadOwner } from "../../domain/ids.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** The object that a thread lives in: its id says so. */
export function threadObject(c: Context<AppEnv>, threadId: string): UserMemoryRpc {
  const owner = threadOwner(threadId);
  if (owner === null) throw new Refusal(fail("not_found"));
  return c.get("services").userMemory(owner);
}
