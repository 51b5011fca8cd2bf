import type { Precondition } from "../../domain/conditions.ts";
import { ok, type Result } from "../../domain/errors.ts";
import type { Services } from "../services.ts";
import type { RememberBody } from "../../domain/schema/memory.ts";
import { embedAll } from "../../platform/embeddings/embed.ts";
import { identityOf, textOf } from "../../domain/memory/identity.ts";
import { type Owner, statusOf } from "../../domain/memory/record.ts";
import { embeddedText } from "../../domain/memory/search-text.ts";
import type { IdempotencyKey } from "../../../durable-objects/storage/contract.ts";
import type { Prepared, Remembered } from "../../../durable-objects/user-memory/contract.ts";

/** A memory to remember, with a condition on the memory that it merges with. */
type Remembering = { body: RememberBody; condition?: Precondition };

type Needs = Pick<Services, "embedder" | "userMemory">;

/**
 * Stores memories through the user's object, all or none. If the embedder fails, recall finds them by their words, and they
 * get their vectors later.
 */
export async function remember(
  { embedder, userMemory }: Needs,
  owner: Owner,
  { memories: given, once }: { memories: readonly Remembering[]; once?: IdempotencyKey | undefined },
): Promise<Result<Remembered[]>> {
  const texts = given.map(({ body }) =>
    embeddedText({ text: textOf(body), title: body.title ?? null, key: body.key ?? null }),
  );
  const [vectors, identities] = await Promise.all([
    embedAll(embedder, texts),
    Promise.all(given.map((one) => withIdentity(owner, one))),
  ]);
  const memories = identities.flatMap((identity, i): Prepared[] => {
    const vector = vectors[i];
    return vector === undefined ? [] : [{ ...identity, vector }];
  });
  return userMemory(owner.hash).remember(owner, { memories, ...(once && { once }) });
}

export async function rememberOne(
  needs: Needs,
  owner: Owner,
  { once, ...memory }: Remembering & { once?: IdempotencyKey | undefined },
): Promise<Result<Remembered>> {
  const remembered = await remember(needs, owner, { memories: [memory], once });
  if (!remembered.ok) return remembered;
  const [one] = remembered.value;
  if (one === undefined) throw new Error("the object returned no memory");
  return ok(one);
}

async function withIdentity(owner: Owner, { body, condition = {} }: Remembering) {
  const status = statusOf(body);
  const identity = await identityOf(owner.hash, { ...body, text: textOf(body) }, status === "quarantined");
  return { body, status, identity, condition };
}
