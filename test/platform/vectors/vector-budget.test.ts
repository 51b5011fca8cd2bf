// All objects of an isolate share a budget of vectors; those without room are held as codes.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VectorRows } from "../../../durable-objects/user-memory/search-index/vector-rows.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { CodeTable } from "../../../src/platform/vectors/code-table.ts";
import { VectorBudget } from "../../../src/platform/vectors/vector-budget.ts";
import { VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { call, newUser } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { evict } from "../../evict.ts";
import { rememberMany, type Seen } from "../../memory-calls.ts";

const DIMENSIONS = 256;
const MINUTE = 60_000;
/** The bytes that one user of these tests holds: the vectors, or their codes. */
const ONE = VectorTable.bytesOf(DIMENSIONS, 20);
const CODES = new CodeTable(DIMENSIONS, 80).bytes;

/** Notes the most that was ever held. */
class Watched extends VectorBudget {
  most = 0;

  override hold(...given: Parameters<VectorBudget["hold"]>): void {
    super.hold(...given);
    this.most = Math.max(this.most, this.heldBytes);
  }
}

beforeEach(() => {
  control.clockAt = clock();
});
afterEach(() => {
  vi.restoreAllMocks();
  restore();
});

const pass = (ms: number) => void (control.clockAt = (control.clockAt ?? 0) + ms);
function limited(bytes: number): Watched {
  const budget = new Watched(bytes);
  control.vectorBudget = budget;
  return budget;
}
const QUESTIONS = ["a feline naps", "heating repair", "when was she born?", "a bike"];
const TEXTS = [
  "the cat sleeps on the sofa",
  "the boiler needs a new valve",
  "her birthday is in June",
  "tyres for the bicycle",
  "a recipe for lentil soup",
  "the ferry leaves at nine",
];
async function told(texts: readonly string[] = TEXTS): Promise<string> {
  const user = newUser();
  for (let start = 0; start < texts.length; start += 500)
    await rememberMany(
      user,
      texts.slice(start, start + 500).map((text) => ({ text })),
    );
  return user;
}
/** The hits by meaning alone, with the scores. */
async function found(user: string, query: string, more: object = {}) {
  const { status, body } = await call(`/v1/users/${user}/recall`, {
    json: { query, weights: { lexical: 0, soft: 0 }, ...more },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const hits = body.hits.map(({ text, score, why }: Seen & { why: object }) => [text, score, why]);
  return { hits, arms: body.arms as { name: string; capped: boolean; candidates: number }[] };
}

describe("two users that do not fit together", () => {
  it("hold no more than the budget however they take turns, and find what they would find without it", async () => {
    const users = [await told(), await told(TEXTS.toReversed())];
    const turns = Array.from({ length: 4 }, (_, i) =>
      users.map((user) => [user, QUESTIONS[i] ?? ""] as const),
    );
    const began = control.clockAt;
    const answers = async (between: number) => {
      for (const user of users) await evict(user);
      control.clockAt = began;
      const all = [];
      for (const [user, query] of turns.flat()) {
        all.push(await found(user, query));
        pass(between);
      }
      return all;
    };
    for (const between of [0, 2 * MINUTE]) {
      limited(Number.POSITIVE_INFINITY);
      const unbounded = await answers(between);
      const budget = limited(ONE * 1.5);
      expect(await answers(between)).toEqual(unbounded);
      expect(budget.most).toBeGreaterThan(0);
      expect(budget.most).toBeLessThanOrEqual(budget.bytes);
    }
  });

  it("drop the vectors of the one who was not there for a minute, and not of one who was", async () => {
    const [ann, bob] = [await told(), await told()];
    const budget = limited(ONE * 1.5);
    const heldBy = async (user: string) => {
      const before = budget.heldBytes;
      budget.releaseAll(env.USER_MEMORY.idFromName(await userHash(user)).toString());
      return before - budget.heldBytes;
    };
    for (const user of [ann, bob]) await evict(user);
    await found(ann, "a cat");
    await found(bob, "a cat");
    expect(await heldBy(bob)).toBe(CODES);
    pass(MINUTE);
    await found(bob, "a cat");
    expect(await heldBy(ann)).toBe(0);
    expect(await heldBy(bob)).toBeGreaterThan(0);
  });
});

describe("an object that finds no room", () => {
  it("finds by its storage what it would find in memory: narrowed, in threads, capped, and what is new or gone", async () => {
    const [both, began]: [object[], number | null] = [[], control.clockAt];
    for (const bytes of [Number.POSITIVE_INFINITY, 2 * CODES, 0]) {
      control.clockAt = began;
      const budget = limited(bytes);
      control.vectorBytes = 8 * DIMENSIONS;
      const user = newUser();
      await rememberMany(
        user,
        TEXTS.map((text, i) => ({ text, tags: i % 2 === 0 ? ["even"] : ["odd"] })),
      );
      const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
      const messages = [
        "a kitten on the couch",
        "the radiator leaks",
        "a bicycle pump",
        "soup with beans",
      ].map((content) => ({ role: "user", content }));
      await call(`/v1/threads/${id}/messages`, { json: { messages } });
      const object = env.USER_MEMORY.getByName(await userHash(user));
      await runInDurableObject(object, (instance) => instance.alarm?.());
      const answers: object[] = [];
      const ask = async (query: string, more: object = {}) => {
        const { hits, arms } = await found(user, query, more);
        answers.push([hits, arms]);
      };
      for (const query of QUESTIONS) await ask(query);
      await ask("a feline naps", { tags: ["odd"] });
      await ask("a feline naps", { kinds: ["message"] });
      await ask("a feline naps", { threadId: id });
      const [cat] = (await call(`/v1/users/${user}/recall`, { json: { query: "a cat sleeps", k: 1 } })).body
        .hits;
      await call(`/v1/users/${user}/memories/${cat.id}`, { method: "DELETE" });
      await ask("a feline naps");
      await rememberMany(user, [{ text: "the cat sits at the window" }]);
      await ask("a feline naps");
      expect(budget.most > 0).toBe(bytes > 0);
      both.push(answers);
    }
    const [inMemory, byCodes, inStorage] = both;
    expect(inStorage).toEqual(inMemory);
    expect(byCodes).toEqual(inMemory);
  });

  it("holds the codes of its vectors, and reads each time only the vectors that they name", async () => {
    const user = await told(Array.from({ length: 2_500 }, (_, i) => `the train number ${i} to the coast`));
    const scan = vi.spyOn(VectorRows.prototype, "blocks");
    const read = vi.spyOn(VectorRows.prototype, "read");
    const vectorsRead = () => read.mock.calls.reduce((sum, [, numbers]) => sum + numbers.length, 0);
    const budget = limited(VectorTable.bytesOf(DIMENSIONS, 500));
    await evict(user);
    await found(user, "a train");
    expect(budget.heldBytes).toBeGreaterThan(2_500 * 40);
    // Not what was there before, but what comes and goes.
    scan.mockClear();
    read.mockClear();
    await rememberMany(user, [{ text: "a violin in its case" }]);
    for (let i = 0; i < 3; i++)
      expect((await found(user, "a violin", { k: 1 })).hits[0]?.[0]).toBe("a violin in its case");
    expect(scan).not.toHaveBeenCalled();
    expect(vectorsRead()).toBeGreaterThanOrEqual(3 * 2_048);
    expect(vectorsRead()).toBeLessThan(3 * 2_450);
    const [hit] = (await call(`/v1/users/${user}/recall`, { json: { query: "a violin", k: 1 } })).body.hits;
    await call(`/v1/users/${user}/memories/${hit.id}`, { method: "DELETE" });
    expect((await found(user, "a violin", { k: 1 })).hits[0]?.[0]).not.toBe("a violin in its case");
    expect(scan).not.toHaveBeenCalled();
  });

  it("holds its vectors in full again once there is room", async () => {
    const user = await told();
    const other = await told();
    const budget = limited(ONE * 1.5);
    for (const one of [user, other]) await evict(one);
    await found(other, "a cat");
    await found(user, "a cat");
    expect(budget.heldBytes).toBeLessThan(ONE + CODES);
    pass(MINUTE);
    await found(user, "a cat");
    expect(budget.heldBytes).toBeGreaterThan(ONE / 2);
    const scan = vi.spyOn(VectorRows.prototype, "blocks");
    await found(user, "a feline naps");
    expect(scan).not.toHaveBeenCalled();
  });

  it("drops what it holds when a write finds no room for more, and loses nothing", async () => {
    const user = await told();
    // Room for what is there and some spare, not for twice of it.
    const budget = limited(VectorTable.bytesOf(DIMENSIONS, 100));
    await evict(user);
    await found(user, "a cat");
    expect(budget.heldBytes).toBeGreaterThan(0);
    await rememberMany(
      user,
      Array.from({ length: 100 }, (_, i) => ({ text: `the train number ${i} to the coast` })),
    );
    expect(budget.heldBytes).toBe(0);
    expect((await found(user, "a feline naps", { k: 1 })).hits[0]?.[0]).toBe(TEXTS[0]);
    expect((await found(user, "railway", { k: 1 })).hits[0]?.[0]).toMatch(/^the train number/);
    expect(budget.most).toBeLessThanOrEqual(budget.bytes);
  });
});

it("an object that is gone gives its bytes back when it begins anew", async () => {
  const user = await told();
  const budget = limited(ONE * 1.5);
  await evict(user);
  await found(user, "a cat");
  const held = budget.heldBytes;
  expect(held).toBeGreaterThan(0);
  await evict(user);
  // Begins, and searches nothing.
  await call(`/v1/users/${user}/kv`);
  expect(budget.heldBytes).toBe(0);
  await found(user, "a cat");
  expect(budget.heldBytes).toBe(held);
});

it("an object that is gone for good makes room for others", async () => {
  const [gone, user] = [await told(), await told()];
  const budget = limited(ONE * 1.5);
  for (const one of [gone, user]) await evict(one);
  await found(gone, "a cat");
  await evict(gone);
  pass(MINUTE);
  const [before] = (await found(user, "a cat")).hits;
  expect(before?.[0]).toBe(TEXTS[0]);
  expect(budget.heldBytes).toBeGreaterThan(0);
  expect(budget.heldBytes).toBeLessThanOrEqual(ONE);
});
