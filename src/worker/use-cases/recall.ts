import { withDeadline } from "../../platform/deadline.ts";
import { ok, type Result } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import type { Answerable, Arm, Hit, RecallAnswer, RecallBody } from "../../domain/schema/recall.ts";
import type { Services } from "../services.ts";
import { distinctBy } from "../../domain/memory/distinct.ts";
import { embedOne } from "../../platform/embeddings/embed.ts";
import { isSmallTalk } from "../../domain/context/small-talk.ts";
import { RERANKED, rerankHits } from "./rerank.ts";
import { searchedQuery } from "../../domain/memory/searched-query.ts";
import type { Recall, Recalled } from "../../contract/user-memory.ts";

type Needs = Pick<Services, "embedder" | "userMemory" | "recall" | "recallIds" | "recallMeter" | "now">;

type Search = Omit<Recall, "owner">;

/** The deadline of a shared owner's object. */
const SHARED_WITHIN_MS = 5_000;

/**
 * Finds memories and messages by meaning and by words: one embedding, then one call to the user's object and to each shared
 * owner's. The caller has checked the access to these. `readOnly`: somebody else reads the user's memory; nothing is counted.
 */
export async function recall(
  needs: Needs,
  user: string,
  request: RecallBody,
  { readOnly }: { readOnly: boolean },
): Promise<Result<RecallAnswer>> {
  const { k = 10, owners = [], rerank = false, minScore = 0, answerable = "off", ...body } = request;
  const began = needs.now();
  // Nothing is shown for it, and so nothing is counted.
  const isTalk = answerable !== "off" && isSmallTalk(body.query);
  const { query, cut } = searchedQuery(body.query);
  const queryVector = await embedOne(needs.embedder, query, "query");
  const search = {
    ...withFilter(body),
    answerable,
    query,
    k: rerank ? searchedFor(needs, k) : k,
    queryVector,
    embeddedMs: needs.now() - began,
  };
  const shown = readOnly || isTalk ? undefined : { k, minScore, abstains: answerable !== "off" };
  const joined = await ofAllOwners(needs, user, { owners, search, shown });
  if (!joined.ok) return joined;
  const { isAnswerable, ...answer } =
    rerank && !isTalk
      ? await reranked(needs, joined.value, { query, k, explain: body.explain, answerable })
      : joined.value;
  const abstains = isTalk || (answerable !== "off" && !isAnswerable);
  const hits = answer.hits.filter(({ score }) => score >= minScore).slice(0, k);
  const degraded = answer.arms.some(failed);
  const answered = shownHits(hits, abstains);
  const metered = { ms: needs.now() - began, hits: answered.hits.length, abstained: abstains, degraded };
  needs.recallMeter.count(needs.now(), metered);
  return ok({ ...answer, ...answered, degraded, ...(cut && { cut }) });
}

/** The merged answer of the user's object and of each shared owner's. `shown`: what the caller shows of the user's own. */
async function ofAllOwners(
  needs: Needs,
  user: string,
  { owners, search, shown }: { owners: readonly string[]; search: Search; shown: Recall["shown"] },
): Promise<Result<Recalled>> {
  const shared = [...new Set(owners)].filter((owner) => owner !== user);
  const [own, answers] = await Promise.all([
    recallOf(needs, user, { ...search, ...(shown && { shown }) }),
    sharedAnswers(needs, shared, search),
  ]);
  if (!own.ok) return own;
  const { recallId: _surest, ...joined } = mergeAnswers([own.value, ...answers]);
  if (shared.length > 0) joined.arms.push(sharedArm(answers, shared.length));
  const { recallId } = own.value;
  return ok({
    ...joined,
    ...(recallId !== undefined && { recallId: await needs.recallIds.sealed(recallId) }),
  });
}

/** The answers of shared owners. Leaves out one that does not answer; the arm `owners` reports it. */
async function sharedAnswers(needs: Needs, owners: readonly string[], search: Search): Promise<Recalled[]> {
  const answers = await Promise.all(
    owners.map((owner) =>
      withDeadline(recallOf(needs, owner, search), SHARED_WITHIN_MS).catch((error: unknown) => {
        console.error({ message: "a shared owner does not answer", error: String(error) });
        return null;
      }),
    ),
  );
  return answers.flatMap((answer) => (answer?.ok === true ? [answer.value] : []));
}

const shownHits = (hits: Hit[], abstains: boolean): Pick<RecallAnswer, "hits" | "abstained" | "nearest"> =>
  abstains ? { hits: [], abstained: true, nearest: hits } : { hits };

/** The hits to search for, of which a reranker keeps `k`. */
const searchedFor = ({ recall: { reranker } }: Needs, k: number): number =>
  reranker === null ? k : Math.max(k, RERANKED);

async function reranked(
  needs: Needs,
  { isAnswerable, ...found }: Recalled,
  {
    query,
    answerable,
    ...how
  }: { query: string; k: number; explain: boolean | undefined; answerable: Answerable },
): Promise<Recalled> {
  const answer = await rerankHits(needs, query, { answer: found, ...how });
  if (answer.confidence === found.confidence) return { ...answer, isAnswerable };
  // Both models have the thresholds in common.
  const { threshold, strictThreshold } = needs.recall.models.static;
  return {
    ...answer,
    isAnswerable: answer.confidence >= (answerable === "strict" ? strictThreshold : threshold),
  };
}

type Narrowed = Pick<RecallBody, "tags" | "scope" | "filter">;

/** Moves the tags and the scope of a body into its filter. */
function withFilter<Body extends Narrowed>({
  tags: given,
  scope,
  filter,
  ...body
}: Body): Omit<Body, keyof Narrowed> & { filter?: NonNullable<Narrowed["filter"]> } {
  // An empty list does not filter at all, not even messages.
  const tags = given?.length === 0 ? undefined : given;
  if (filter === undefined && tags === undefined && scope === undefined) return body;
  return {
    ...body,
    filter: {
      ...filter,
      // One more condition beside those of the filter.
      ...(tags && { tags: [...(filter?.tags ?? []), ...tags] }),
      ...(scope !== undefined && {
        scope: filter?.scope === undefined || filter.scope.includes(scope) ? [scope] : [],
      }),
    },
  };
}

async function recallOf({ userMemory }: Needs, user: string, search: Search): Promise<Result<Recalled>> {
  const owner = await userHash(user);
  const answer = await userMemory(owner).recall({ ...search, owner });
  if (!answer.ok) return answer;
  return ok({ ...answer.value, hits: answer.value.hits.map((hit) => ({ ...hit, userId: user })) });
}

/** Merges the answers of several owners. Their scores compare. */
function mergeAnswers(answers: readonly Recalled[]): Recalled {
  const [first, ...others] = answers;
  if (first === undefined) throw new Error("no answers to merge");
  if (others.length === 0) return first;
  const surest = answers.reduce((most, one) => (one.confidence > most.confidence ? one : most));
  const hits = answers.flatMap(({ hits: found }) => found).toSorted((a, b) => b.score - a.score);
  return {
    ...surest,
    isAnswerable: answers.some((one) => one.isAnswerable),
    hits: distinctBy(hits, (hit) => hit),
    arms: first.arms.map((arm) =>
      answers.flatMap(({ arms }) => arms.filter(({ name }) => name === arm.name)).reduce(mergeArms),
    ),
    freshness: {
      indexed: answers.reduce((sum, { freshness }) => sum + freshness.indexed, 0),
      pending: answers.reduce((sum, { freshness }) => sum + freshness.pending, 0),
    },
  };
}

/** From best to worst. */
const STATUSES: readonly Arm["status"][] = ["off", "ok", "late", "failed"];

const mergeArms = (a: Arm, b: Arm): Arm => ({
  name: a.name,
  status: STATUSES[Math.max(STATUSES.indexOf(a.status), STATUSES.indexOf(b.status))] ?? "failed",
  candidates: a.candidates + b.candidates,
  capped: a.capped || b.capped,
  ms: Math.max(a.ms, b.ms),
});

const sharedArm = (answers: readonly Recalled[], asked: number): Arm => ({
  name: "owners",
  status: answers.length === asked ? "ok" : "failed",
  candidates: answers.reduce((sum, { hits }) => sum + hits.length, 0),
  capped: false,
  ms: Math.max(0, ...answers.flatMap(({ arms }) => arms.map(({ ms }) => ms))),
});

const failed = ({ status }: Pick<Arm, "status">): boolean => status === "failed" || status === "late";
