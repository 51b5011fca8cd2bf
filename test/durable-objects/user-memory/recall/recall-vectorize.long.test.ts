// Recall where the object's memory does not hold every vector, so that Vectorize is asked too: in all its moods.
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { VectorBudget } from "../../../../src/platform/vectors/vector-budget.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { bindVectorize } from "../../../doubles/ports.ts";
import { VectorizeDouble } from "../../../doubles/vectorize.ts";
import { evict } from "../../../evict.ts";
import { forget, remember, rememberMany, type Seen } from "../../../memory-calls.ts";

/** An index that can be made to forget whose vectors are asked for. */
class Loose extends VectorizeDouble {
  loose = false;
  lastFilter: VectorizeVectorMetadataFilter | undefined;

  override query(...[vector, options]: Parameters<VectorizeDouble["query"]>) {
    this.lastFilter = options?.filter;
    return super.query(vector, this.loose ? { topK: 100 } : options);
  }
}

const DIMENSIONS = 256;
let vectorize: Loose;

/** Two vectors fit into an object's memory. */
const ROOM = 2;
beforeEach(() => {
  // Each test has its own: a write is carried out after all before it, and a test ends hours ahead of the next one.
  vectorize = new Loose(DIMENSIONS, ["user", "kind", "scope", "model"]);
  bindVectorize(vectorize);
  control.clockAt = clock() + 24 * 3_600_000;
  control.vectorBytes = ROOM * DIMENSIONS;
});
afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const ring = async (user: string) => runDurableObjectAlarm(await objectOf(user));
async function settle(user: string): Promise<void> {
  for (let i = 0; i < 100; i++) {
    control.clockAt = (control.clockAt ?? 0) + 60_000;
    if (!(await ring(user))) return;
  }
  throw new Error("alarms go on for ever");
}
const ask = async (user: string, query: string, more: object = {}) =>
  (await call(`/v1/users/${user}/recall`, { json: { query, weights: { lexical: 0, soft: 0 }, ...more } }))
    .body;
const texts = ({ hits }: { hits: Seen[] }) => hits.map(({ text }) => text);
const armOf = ({ arms }: { arms: { name: string }[] }, name: string) => arms.find((arm) => arm.name === name);
const idsOf = async (user: string) => {
  const hash = await userHash(user);
  return vectorize.ids().filter((id) => id.startsWith(hash));
};

const OLD = ["the cat sleeps on the sofa", "the boiler needs a new valve", "her birthday is in June"];
const NEW = ["tyres for the bicycle", "a recipe for lentil soup"];
/** Three memories that only Vectorize has at hand, and two that memory holds. */
async function told(user: string): Promise<void> {
  await rememberMany(
    user,
    OLD.map((text) => ({ text })),
  );
  await rememberMany(
    user,
    NEW.map((text) => ({ text })),
  );
  await settle(user);
}

describe.each([
  ["where memory does not hold every vector", null],
  ["where the isolate has no memory for an object's vectors", 0],
])("%s", (_, budget) => {
  beforeEach(() => {
    control.vectorBudget = budget === null ? null : new VectorBudget(budget);
  });

  it("finds by Vectorize what is near, and says so", async () => {
    const user = newUser();
    await told(user);
    const answer = await ask(user, "heating repair");
    expect(texts(answer)[0]).toBe(OLD[1]);
    expect(answer.hits[0].why).toEqual({ vector: 1 });
    expect(armOf(answer, "vectorize")).toMatchObject({ status: "ok", candidates: 5, capped: false });
    expect(armOf(answer, "vector")).toMatchObject({ status: "ok", candidates: 5, capped: true });
    expect(answer.degraded).toBe(false);
  });

  it("finds what Vectorize does not show for two minutes", async () => {
    control.vectorizeLag = 120_000;
    const user = newUser();
    await rememberMany(
      user,
      [...OLD, ...NEW].map((text) => ({ text })),
    );
    await ring(user);
    const answer = await ask(user, "a feline naps", { k: 1 });
    expect(texts(answer)).toEqual([OLD[0]]);
    expect(armOf(answer, "vectorize")).toMatchObject({ status: "ok", candidates: 0 });
  });

  it.each(["fail", "hang"] as const)("answers without Vectorize when it does this: %s", async (how) => {
    const user = newUser();
    await told(user);
    control.vectorizeReads = how;
    const answer = await ask(user, "boiler bicycle", { deadlineMs: 30, weights: {} });
    expect(texts(answer).slice(0, 2).toSorted()).toEqual([OLD[1], NEW[0]]);
    expect(armOf(answer, "vectorize")).toMatchObject({
      status: how === "fail" ? "failed" : "late",
      candidates: 0,
    });
    expect(answer.degraded).toBe(true);
  });

  it("never finds what was forgotten, however long Vectorize goes on naming it", async () => {
    const user = newUser();
    await told(user);
    const [cat] = (await ask(user, "a cat", { k: 1 })).hits;
    expect((await forget(user, cat.id)).status).toBe(204);
    await settle(user);
    control.vectorizeReads = "stale";
    const answer = await ask(user, "a cat");
    expect(texts(answer)).not.toContain(OLD[0]);
    expect(texts(answer)).toHaveLength(4);
  });

  it("never finds another user's, even if Vectorize names it", async () => {
    const [user, other] = [newUser(), newUser()];
    await told(user);
    await remember(other, { text: "the cat has gone to the neighbour" });
    await settle(other);
    vectorize.loose = true;
    const answer = await ask(user, "a cat");
    expect(texts(answer).toSorted()).toEqual([...OLD, ...NEW].toSorted());
    expect(armOf(answer, "vectorize")).toMatchObject({ candidates: 5 });
  });

  it("holds the newest, whatever comes, and loses none of the others", async () => {
    const user = newUser();
    await told(user);
    await ask(user, "anything");
    await remember(user, { text: "the ferry leaves at nine" });
    vectorize.calls.query = 0;
    control.vectorizeReads = "fail";
    expect(texts(await ask(user, "a boat departs", { k: 1 }))).toEqual(["the ferry leaves at nine"]);
    expect(vectorize.calls.query).toBe(1);
    control.vectorizeReads = "ok";
    for (const text of [...OLD, ...NEW]) expect(texts(await ask(user, text, { k: 1 }))).toEqual([text]);
  });
});

it("asks Vectorize nothing while memory holds every vector", async () => {
  const user = newUser();
  control.vectorBytes = null;
  await told(user);
  vectorize.calls.query = 0;
  const answer = await ask(user, "heating repair");
  expect(texts(answer)[0]).toBe(OLD[1]);
  expect(armOf(answer, "vectorize")).toMatchObject({ status: "off", candidates: 0 });
  expect(vectorize.calls.query).toBe(0);
});

describe("messages in Vectorize", () => {
  const say = async (user: string, said: readonly string[]) => {
    const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
    const messages = said.map((content) => ({ role: "user", content }));
    await call(`/v1/threads/${id}/messages`, { json: { messages } });
    return id as string;
  };

  it("are found there, and gone from there with their thread", async () => {
    control.messageIndexing = "vectorize";
    const user = newUser();
    const id = await say(user, [...OLD, ...NEW]);
    await settle(user);
    expect(await idsOf(user)).toHaveLength(5);
    expect(texts(await ask(user, "heating repair", { kinds: ["message"], k: 1 }))).toEqual([OLD[1]]);
    await call(`/v1/threads/${id}`, { method: "DELETE" });
    await settle(user);
    expect(await idsOf(user)).toEqual([]);
  });

  it("come when that is switched on, and go when it is switched off", async () => {
    const user = newUser();
    await say(user, OLD);
    await settle(user);
    expect(await idsOf(user)).toEqual([]);
    control.messageIndexing = "vectorize";
    await evict(user);
    await say(user, NEW);
    await settle(user);
    expect(await idsOf(user)).toHaveLength(5);
    control.messageIndexing = "full";
    await evict(user);
    await say(user, ["one more"]);
    await settle(user);
    expect(await idsOf(user)).toEqual([]);
  });
});

it("narrows what Vectorize is asked for by kind and scope, and asks nothing if few have them", async () => {
  const user = newUser();
  await rememberMany(user, [
    { text: OLD[0], kind: "episode", scope: "home" },
    { text: OLD[1], scope: "work" },
    ...NEW.map((text) => ({ text })),
  ]);
  for (const from of [0, 500])
    await rememberMany(
      user,
      Array.from({ length: 500 }, (__, i) => ({
        text: `chapter ${from + i}`,
        kind: "episode",
        scope: "home",
      })),
    );
  await settle(user);
  for (const narrow of [{ scope: "home" }, { kinds: ["episode"] }]) {
    const answer = await ask(user, "a cat", { ...narrow, k: 100 });
    expect(texts(answer)[0]).toBe(OLD[0]);
    expect(texts(answer).filter((text) => !text.startsWith("chapter"))).toEqual([OLD[0]]);
    expect(armOf(answer, "vectorize")).toMatchObject({ status: "ok", candidates: 100 });
    expect(vectorize.lastFilter).toMatchObject(
      "scope" in narrow ? { scope: "home" } : { kind: { $in: ["episode"] } },
    );
  }
  vectorize.calls.query = 0;
  const atWork = await ask(user, "a cat", { scope: "work" });
  expect(texts(atWork)).toEqual([OLD[1]]);
  expect(armOf(atWork, "vectorize")).toMatchObject({ status: "off", candidates: 0 });
  expect(vectorize.calls.query).toBe(0);
});
