import type { Condition } from "../../domain/conditions.ts";
import { ok, type Result } from "../../domain/errors.ts";
import type { Services } from "../services.ts";
import type { RememberBody } from "../../domain/schema/memory.ts";
import { embedAll } from "../../platform/embeddings/embed.ts";
import { identityOf, textOf } from "../../domain/memory/identity.ts";
import { type Owner, statusOf } from "../../domain/memory/record.ts";
import { embeddedText } from "../../domain/memory/search-text.ts";
import type { IdempotencyKey } from "../../../durable-objects/storage/contract.ts";
import type { Prepared, Remembered } from "../../../durable-objects/user-memory/contract.ts";

/** A memory to remember, under a condition on the memory that it is one with. */
export type Remembering = { body: RememberBody; condition?: Condition };

type Needs = Pick<Services, "embedder" | "userMemory">;

/**
 * Stores memories through the user's object, the one writer of that user's memories: all of them or none. No model
 * decides anything here. If the embedder fails, they are stored, are found by their words, and get their vectors later.
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
    Promise.all(given.map((one) => identified(owner, one))),
  ]);
  const memories = identities.flatMap((identity, i): Prepared[] => {
    const vector = vectors[i];
    return vector === undefined ? [] : [{ ...identity, vector }];
  });
  return userMemory(owner.hash).remember(owner, { memories, ...(once && { once }) });
}

/** One memory, which may be the only one of its call. */
export async function rememberOne(
  needs: Needs,
  owner: Owner,
  { once, ...memory }: Remembering & { once?: IdempotencyKey | undefined },
): Promise<Result<Remembered>> {
  const remembered = await remember(needs, owner, { memories: [memory], once });
  if (!remembered.ok) return remembered;
  const [one] = remembered.value;
  if (one === undefined) throw new Error("one memory was remembered, and none came back");
  return ok(one);
}

async function identified(owner: Owner, { body, condition = {} }: Remembering) {
  const status = statusOf(body);
  const identity = await identityOf(owner.hash, { ...body, text: textOf(body) }, status === "quarantined");
  return { body, status, identity, condition };
}
