// Random histories of ingests under faults: each message is stored once, each of its facts is one memory, and nothing
// comes back after a deletion.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { GenerateRequest } from "../../src/platform/models/language-model.ts";
import { type Answer, call, newUser, token } from "../call.ts";
import { advance, control, type D1Write, restore } from "../doubles/control.ts";
import { isLook, lookEntry, RuledModel, shownIn } from "../doubles/language-models.ts";
import { evict } from "../evict.ts";
import { ring, user } from "../durable-objects/user-memory/ingest/calls.ts";
import { runSeed, seedsOf } from "./run.ts";

const MINUTE = 60_000;
/** Far from today, so that no alarm goes off unless the history lets it. */
const BEGIN = Date.UTC(2100, 0, 1);
const SESSIONS = 2;
const bearer = await token("*", undefined, 80 * 365 * 24 * 3600);

const ask = (path: string, how: { method?: string; json?: object } = {}): Promise<Answer> =>
  call(`/v1/${path}`, { token: bearer, ...how });
function requireStatus({ status, text }: Answer, wanted: number): void {
  if (status !== wanted) throw new Error(`${status} in place of ${wanted}: ${text}`);
}
const memoriesOf = async (owner: string): Promise<{ id: string; object: string }[]> =>
  (await ask(`users/${owner}/memories?limit=1000`)).body.items;
const messagesOf = async (threadId: string): Promise<string[]> =>
  (await ask(`threads/${threadId}/messages?order=oldest&limit=1000`)).body.items.map(
    ({ message }: { message: { content: string } }) => message.content,
  );
const statusOf = async (ingestId: string): Promise<string> => (await ask(`ingests/${ingestId}`)).body.status;

const fates = ["ok", "fails", "nonsense", "slow", "few", "swapped"] as const;
type Fate = (typeof fates)[number];
/**
 * A model that finds each "I like …" and agrees to it in its second look, or fails, or answers after the alarm has stopped waiting. Its
 * second look may lack a fact, or have the numbers of others.
 */
class Fickle extends RuledModel {
  fates: Fate[] = [];
  /** The objects that a second look has agreed to. */
  readonly agreed = new Set<string>();

  constructor() {
    super((messages) => ({
      facts: messages.map(({ n, text }) => ({
        subject: "user",
        predicate: "likes",
        object: /like (\w+)/.exec(text)?.[1] ?? "",
        sources: [n],
      })),
    }));
  }

  override async generate(request: GenerateRequest) {
    const fate = this.fates.shift() ?? "ok";
    if (fate === "fails") throw new Error("the model is away");
    if (fate === "slow") {
      advance(10_000);
      await scheduler.wait(5);
    }
    const generated = await super.generate(request);
    if (fate === "nonsense") return { ...generated, text: "Sure!" };
    if (!isLook(request)) return generated;
    const shown = shownIn(request);
    const looks = shown.map((fact, i) => ({
      ...lookEntry(fact),
      ...(fate === "swapped" && { n: shown.length - i }),
    }));
    const answered = fate === "few" ? looks.slice(1) : looks;
    for (const { n, object } of answered) if (shown[n - 1]?.fact.object === object) this.agreed.add(object);
    return { ...generated, text: JSON.stringify({ looks: answered }) };
  }
}

const session = fc.nat({ max: SESSIONS - 1 });
const faults = fc.record({
  d1: fc.array(fc.constantFrom<D1Write>("ok", "before", "after", "late"), { maxLength: 3 }),
  model: fc.array(fc.constantFrom(...fates), { maxLength: 4 }),
  transactions: fc.constantFrom(0, 0, 0, 1),
  counts: fc.constantFrom("ok" as const, "ok" as const, "fail" as const),
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("ingest" as const),
      session,
      more: fc.nat(3),
      faults,
      part: fc.boolean(),
      wait: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("ring" as const), minutes: fc.nat(40), faults }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("evict" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deleteThread" as const), session }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("erase" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), which: fc.nat(5) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A conversation as its caller has it. `sent`: messages of the last call. `stored`: those of the last acknowledged one. */
type Conversation = { name: string; said: string[]; sent: number; stored: number; threadId?: string };

async function run(steps: readonly Step[]): Promise<void> {
  restore();
  control.clockAt = BEGIN;
  const model = new Fickle();
  control.languageModel = model;
  control.tenantModelQuota = { calls: 1_000_000, tokens: 1_000_000_000 };
  const owner = newUser();
  let names = 0;
  let likes = 0;
  const begin = (): Conversation => ({ name: `s${++names}`, said: [], sent: 0, stored: 0 });
  let conversations = Array.from({ length: SESSIONS }, begin);
  const ingests: { id: string; of: Conversation }[] = [];
  /** Objects that no memory may have any more. */
  const gone = new Set<string>();

  const inject = (given: { d1: D1Write[]; model: Fate[]; transactions: number; counts: "ok" | "fail" }) => {
    control.d1NextWrites = [...given.d1];
    model.fates = [...given.model];
    control.failingTransactions = given.transactions;
    control.tenantModelUsage = given.counts;
  };
  const heal = () => inject({ d1: [], model: [], transactions: 0, counts: "ok" });
  const pass = async (minutes: number): Promise<void> => {
    control.clockAt = (control.clockAt ?? BEGIN) + minutes * MINUTE;
    await ring(owner);
  };
  const replace = (old: Conversation): void => {
    conversations = conversations.map((one) => (one === old ? begin() : one));
  };

  for (const one of steps) {
    if (one.do === "ingest") {
      const conversation = conversations[one.session];
      if (conversation === undefined) continue;
      const { said } = conversation;
      for (let i = 0; i < one.more; i++) said.push(`like${++likes}`);
      if (said.length === 0) continue;
      inject(one.faults);
      // A part that follows what was acknowledged, or the whole conversation.
      const from =
        one.part && conversation.sent === conversation.stored
          ? Math.min(conversation.stored, said.length - 1)
          : 0;
      const messages = said.slice(from).map((like) => user(`I like ${like}.`));
      const { status, body, text } = await ask(`users/${owner}/ingest`, {
        json: {
          sessionId: conversation.name,
          messages,
          extract: ["facts"],
          mode: one.wait ? "wait" : "background",
        },
      });
      conversation.sent = said.length;
      if (status === 202 || status === 200) {
        conversation.stored = said.length;
        conversation.threadId = body.threadId;
        ingests.push({ id: body.ingestId, of: conversation });
      } else if (status < 500) throw new Error(`the ingest answered ${status}: ${text}`);
    } else if (one.do === "ring") {
      inject(one.faults);
      await pass(one.minutes);
    } else if (one.do === "evict") await evict(owner);
    else if (one.do === "deleteThread") {
      const conversation = conversations[one.session];
      heal();
      if (conversation?.threadId === undefined) continue;
      await ask(`threads/${conversation.threadId}`, { method: "DELETE" });
      replace(conversation);
    } else if (one.do === "erase") {
      heal();
      for (const { said } of conversations) for (const like of said) gone.add(like);
      requireStatus(await ask(`users/${owner}`, { method: "DELETE" }), 202);
      conversations = conversations.map(begin);
    } else {
      heal();
      const memories = await memoriesOf(owner);
      const memory = memories[one.which % Math.max(1, memories.length)];
      if (memory === undefined) continue;
      requireStatus(await ask(`users/${owner}/memories/${memory.id}`, { method: "DELETE" }), 204);
      gone.add(memory.object);
    }
    heal();
  }
  // An eviction waits for steps that outlast their alarm.
  await evict(owner);
  for (let i = 0; i < 4; i++) await pass(10);
  const live = ingests.filter(({ of }) => conversations.includes(of));
  for (const { id } of live) {
    if ((await statusOf(id)) === "partial") await ask(`ingests/${id}/retry`, { json: {} });
  }
  for (let i = 0; i < 3; i++) await pass(10);

  const expected = new Set<string>();
  for (const { threadId, said, stored } of conversations) {
    if (threadId === undefined) continue;
    const kept = await messagesOf(threadId);
    expect(kept.length).toBeGreaterThanOrEqual(stored);
    expect(kept).toEqual(said.slice(0, kept.length).map((like) => `I like ${like}.`));
    for (const like of said.slice(0, stored)) if (!gone.has(like)) expected.add(like);
  }
  for (const { id } of live) expect(await statusOf(id)).toBe("done");
  const objects = (await memoriesOf(owner)).map(({ object }) => object);
  expect(new Set(objects).size).toBe(objects.length);
  expect(objects.filter((like) => gone.has(like))).toEqual([]);
  expect([...expected].filter((like) => !objects.includes(like))).toEqual([]);
  expect(objects.filter((like) => !model.agreed.has(like))).toEqual([]);
  // No fact waits any more, and none is there twice.
  const waiting: { object: string }[] = (await ask(`users/${owner}/memories?limit=1000&status=quarantined`))
    .body.items;
  expect(waiting.filter(({ object }) => expected.has(object))).toEqual([]);
}

it("keeps its promises through random histories of ingests", async () => {
  try {
    const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), run);
    for (const seed of seedsOf(0, 1)) await runSeed(seed, property);
  } finally {
    restore();
  }
}, 1_200_000);
