// Objects that do not answer a recall which asks several: their answers are missing, and it says so.
import { expect, it } from "vitest";
import { ok } from "../../../src/domain/errors.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { rankingModels } from "../../../src/domain/ranking/weights.ts";
import { recall } from "../../../src/worker/use-cases/recall.ts";
import { RecallIds } from "../../../src/worker/auth/recall-ids.ts";
import { RecallMeter } from "../../../src/worker/recall-meter.ts";
import type { Services } from "../../../src/worker/services.ts";
import { modelTag, vectorId } from "../../../src/platform/vectors/vector-id.ts";
import type { Recalled } from "../../../src/contract/user-memory.ts";

const MODEL = "model";
const hit = (text: string, score: number) =>
  ({ id: text, kind: "fact", text, score, why: {}, createdAt: 0 }) as const;
const answer = (text: string): Recalled => ({
  confidence: 0.5,
  isAnswerable: true,
  hits: [hit(text, 0.5)],
  arms: [{ name: "vector", status: "ok", candidates: 1, capped: false, ms: 1 }],
  freshness: { indexed: 1, pending: 0 },
});

/** Services of which the objects of these users do not answer; the vector index names one document of each user. */
async function services(users: readonly string[], silent: readonly string[]): Promise<Services> {
  const hashes = new Map(await Promise.all(users.map(async (user) => [await userHash(user), user] as const)));
  const tag = await modelTag(MODEL);
  const of = <T>(owner: string, answered: (user: string) => T): Promise<T> => {
    const user = hashes.get(owner) ?? "";
    return silent.includes(user)
      ? Promise.reject(new Error("the object is overloaded"))
      : Promise.resolve(answered(user));
  };
  return {
    embedder: { model: MODEL, dimensions: 1, embed: async () => [Float32Array.of(1)] },
    userMemory: (owner: string) => ({
      recall: () => of(owner, (user) => ok(answer(`of ${user}`))),
    }),
    vectors: {
      query: async () => Array.from(hashes.keys(), (owner) => ({ id: vectorId(owner, 1, tag), score: 1 })),
    },
    recall: { reranker: null, models: rankingModels },
    recallIds: new RecallIds(["a secret of this test, of 32 bytes or more"]),
    recallMeter: new RecallMeter(),
    now: () => 0,
    // Only what a recall needs.
  } as unknown as Services;
}

it("answers with what the user and the other shared owners have, when one does not answer", async () => {
  const needs = await services(["ann", "shared:a", "shared:b"], ["shared:a"]);
  const answered = await recall(
    needs,
    "ann",
    { query: "x", owners: ["shared:a", "shared:b"] },
    { readOnly: false },
  );
  expect(answered).toMatchObject({
    ok: true,
    value: {
      hits: [{ userId: "ann" }, { userId: "shared:b" }],
      arms: [
        { name: "vector", candidates: 2 },
        { name: "owners", status: "failed", candidates: 1 },
      ],
      degraded: true,
      freshness: { indexed: 2 },
    },
  });
});

it("fails when the user's own object does not answer", async () => {
  const needs = await services(["ann", "shared:a"], ["ann"]);
  await expect(
    recall(needs, "ann", { query: "x", owners: ["shared:a"] }, { readOnly: false }),
  ).rejects.toThrow("overloaded");
});
