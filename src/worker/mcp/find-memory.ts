import { ok, type Result } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import { listMemories } from "../use-cases/browse.ts";
import type { Memory } from "../../domain/schema/memory.ts";
import type { Context } from "./tool.ts";

type Name = { title: string } | { subject: string; predicate: string };

/** The memory of this name and scope. Without `scope`: the one without a scope, else the newest of any. Null if none. */
export async function findMemory(
  { services }: Context,
  owner: string,
  { scope, ...name }: Name & { scope?: string | undefined },
): Promise<Result<Memory | null>> {
  const hash = await userHash(owner);
  const newest = async (where: { scope?: string[]; unscoped?: true }): Promise<Result<Memory | null>> => {
    const kind = "title" in name ? ("procedure" as const) : ("fact" as const);
    const page = await listMemories(services, hash, { ...name, ...where, kind: [kind], limit: 1 });
    return page.ok ? ok(page.value.items[0] ?? null) : page;
  };
  if (scope !== undefined) return newest({ scope: [scope] });
  const unscoped = await newest({ unscoped: true });
  return unscoped.ok && unscoped.value === null ? newest({}) : unscoped;
}
