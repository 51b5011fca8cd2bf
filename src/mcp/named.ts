import { ok, type Result } from "../errors.ts";
import { userHash } from "../ids.ts";
import { listMemories } from "../memory/browse.ts";
import type { Memory } from "../schema/memory.ts";
import type { Context } from "./tool.ts";

/** What names a memory; one without a scope is another than one of a scope. */
type Name = { title: string } | { subject: string; predicate: string };

/** Scopes in which one name is looked for. */
const SCOPES = 20;

/**
 * The memory of this name and scope; where no scope is asked for, the one without, else the newest of any. Null if there
 * is none.
 */
export async function memoryNamed(
  { services }: Context,
  owner: string,
  { scope, ...name }: Name & { scope?: string | undefined },
): Promise<Result<Memory | null>> {
  const page = await listMemories(services, await userHash(owner), {
    ...name,
    kind: ["title" in name ? "procedure" : "fact"],
    ...(scope !== undefined && { scope: [scope] }),
    limit: SCOPES,
  });
  if (!page.ok) return page;
  const { items } = page.value;
  return ok(items.find((memory) => memory.scope === scope) ?? items[0] ?? null);
}
