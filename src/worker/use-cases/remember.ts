import type { Precondition } from "../../domain/conditions.ts";
import { ok, type Result } from "../../domain/errors.ts";
import { type Owner, type Writer, authorOf } from "../../domain/memory/record.ts";
import type { RememberBody } from "../../domain/schema/memory.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import { prepareMemories } from "../../platform/prepare-memories.ts";
import type { Services } from "../services.ts";
import type { IdempotencyKey } from "../../contract/storage.ts";
import type { Remembered } from "../../contract/user-memory.ts";

/** A memory to remember, with a condition on the memory that it merges with. */
type Remembering = { body: RememberBody; condition?: Precondition };

type Call = { by: Writer; once?: IdempotencyKey | undefined };
type Needs = Pick<Services, "embedder" | "userMemory" | "predicates">;

/**
 * Stores memories through the user's object, all or none. If the embedder fails, recall finds them by their words, and they
 * get their vectors later.
 */
export async function remember(
  { embedder, userMemory, predicates }: Needs,
  owner: Owner,
  { memories, by, once }: Call & { memories: readonly Remembering[] },
): Promise<Result<Remembered[]>> {
  const isRuled = memories.some(({ body }) => body.subject !== undefined && body.predicate !== undefined);
  const rules = isRuled ? await d1Result(() => predicates.rules()) : ok(new Map());
  if (!rules.ok) return rules;
  const bodies = memories.map(({ body }) => ({ body, by: authorOf(by, body) }));
  const prepared = await prepareMemories({ embedder, rules: rules.value }, owner, bodies);
  const conditional = prepared.map((one, i) => ({ ...one, condition: memories[i]?.condition ?? {} }));
  return userMemory(owner.hash).remember(owner, { memories: conditional, ...(once && { once }) });
}

export async function rememberOne(
  needs: Needs,
  owner: Owner,
  { by, once, ...memory }: Remembering & Call,
): Promise<Result<Remembered>> {
  const remembered = await remember(needs, owner, { memories: [memory], by, once });
  if (!remembered.ok) return remembered;
  const [one] = remembered.value;
  if (one === undefined) throw new Error("the object returned no memory");
  return ok(one);
}
