import { ok, type Result } from "../errors.ts";
import { userHash } from "../ids.ts";
import { listMemories } from "../memory/browse.ts";
import type { Memory } from "../schema/memory.ts";
import type { Context } from "./tool.ts";

type Asked = { title?: string; tag?: string[]; limit: number };

/** The procedures of several owners, in their order; of each the newest first, `limit` of each at most. */
export async function proceduresOf(
  { services }: Context,
  owners: readonly string[],
  asked: Asked,
): Promise<Result<Memory[]>> {
  const pages = await Promise.all(
    owners.map(async (owner) => {
      const query = { ...asked, kind: ["procedure" as const] };
      return listMemories(services, await userHash(owner), query);
    }),
  );
  const all: Memory[] = [];
  for (const page of pages) {
    if (!page.ok) return page;
    all.push(...page.value.items);
  }
  return ok(all);
}
