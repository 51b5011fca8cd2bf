import type { Recall } from "../../durable-objects/user-memory/recaller.ts";
import { ok, type Result } from "../errors.ts";
import { userHash } from "../ids.ts";
import type { Arm, RecallAnswer, RecallBody } from "../schema/recall.ts";
import type { Services } from "../services.ts";
import { embedOne } from "./embed.ts";
import { reranked, RERANKED } from "./rerank.ts";

type Needs = Pick<Services, "embedder" | "userMemory" | "recall" | "now">;

/**
 * Finds memories and messages by meaning and by words: one embedding, then one call to the user's object, and beside it
 * one to each shared owner's. The caller has seen to it that these may be read.
 */
export async function recall(
  needs: Needs,
  user: string,
  { k = 10, owners = [], rerank = false, minScore, ...body }: RecallBody,
): Promise<Result<RecallAnswer>> {
  const began = needs.now();
  const queryVector = await embedOne(needs.embedder, body.query, "query");
  const deep = rerank && needs.recall.reranker !== null;
  const asked = {
    ...narrowed(body),
    k: deep ? Math.max(k, RERANKED) : k,
    queryVector,
    embeddedMs: needs.now() - began,
    ...(minScore !== undefined && { minScore }),
  };
  const shared = [...new Set(owners)].filter((owner) => owner !== user);
  const [own, ...others] = await Promise.all([
    ask(needs, user, asked),
    // A shared owner whose object does not answer costs what it has, and the answer says so.
    ...shared.map((owner) =>
      ask(needs, owner, asked).catch((error: unknown) => {
        console.error({ message: "a shared owner does not answer", error: String(error) });
        return null;
      }),
    ),
  ]);
  if (!own.ok) return own;
  const answers = others.flatMap((other) => (other?.ok === true ? [other.value] : []));
  const joined = together([own.value, ...answers], k);
  if (shared.length > 0) joined.arms.push(sharedArm(answers, shared.length));
  const answer = rerank ? await reranked(needs, body.query, { answer: joined, k }) : joined;
  return ok({ ...answer, hits: answer.hits.slice(0, k), degraded: answer.arms.some(failed) });
}

type Narrowed = Pick<RecallBody, "tags" | "scope" | "filter">;

/** A body whose tags and scope are part of its filter. */
export function narrowed<Body extends Narrowed>({
  tags: given,
  scope,
  filter,
  ...body
}: Body): Omit<Body, keyof Narrowed> & { filter?: NonNullable<Narrowed["filter"]> } {
  // No tag narrows nothing, not even memories from messages.
  const tags = given?.length === 0 ? undefined : given;
  if (filter === undefined && tags === undefined && scope === undefined) return body;
  return {
    ...body,
    filter: {
      ...filter,
      // A tag or scope here is one more condition, whatever the filter says.
      ...(tags && { tags: [...(filter?.tags ?? []), ...tags] }),
      ...(scope !== undefined && {
        scope: filter?.scope === undefined || filter.scope.includes(scope) ? [scope] : [],
      }),
    },
  };
}

async function ask(
  { userMemory }: Needs,
  user: string,
  query: Omit<Recall, "owner">,
): Promise<Result<RecallAnswer>> {
  const owner = await userHash(user);
  const answer = await userMemory(owner).recall({ ...query, owner });
  if (!answer.ok) return answer;
  return ok({ ...answer.value, hits: answer.value.hits.map((hit) => ({ ...hit, userId: user })) });
}

/** Several owners' answers as one: their scores compare. */
function together(answers: readonly RecallAnswer[], k: number): RecallAnswer {
  const [first, ...others] = answers;
  if (first === undefined) throw new Error("an answer of nobody");
  if (others.length === 0) return first;
  return {
    hits: answers
      .flatMap(({ hits }) => hits)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, Math.max(k, RERANKED)),
    arms: first.arms.map((arm) =>
      answers.flatMap(({ arms }) => arms.filter(({ name }) => name === arm.name)).reduce(both),
    ),
    degraded: false,
    freshness: {
      indexed: answers.reduce((sum, { freshness }) => sum + freshness.indexed, 0),
      pending: answers.reduce((sum, { freshness }) => sum + freshness.pending, 0),
    },
  };
}

/** From the best to the worst that can be said of an arm. */
const STATUSES: readonly Arm["status"][] = ["off", "ok", "late", "failed"];

/** One arm of two owners. */
const both = (a: Arm, b: Arm): Arm => ({
  name: a.name,
  status: STATUSES[Math.max(STATUSES.indexOf(a.status), STATUSES.indexOf(b.status))] ?? "failed",
  candidates: a.candidates + b.candidates,
  capped: a.capped || b.capped,
  ms: Math.max(a.ms, b.ms),
});

const sharedArm = (answers: readonly RecallAnswer[], asked: number): Arm => ({
  name: "owners",
  status: answers.length === asked ? "ok" : "failed",
  candidates: answers.reduce((sum, { hits }) => sum + hits.length, 0),
  capped: false,
  ms: Math.max(0, ...answers.flatMap(({ arms }) => arms.map(({ ms }) => ms))),
});

export const failed = ({ status }: Pick<Arm, "status">): boolean => status === "failed" || status === "late";
