// One creator under any interleaving of what can happen to a key, over the real object and a clock that is turned.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import type { PromptCache } from "../../../durable-objects/prompt-cache.ts";
import { control, restore } from "../../doubles/control.ts";

afterEach(restore);

const LEASE_MS = 1000;
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("lease" as const), waitMs: fc.nat(3000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("set" as const), mine: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), which: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), which: fc.nat(10) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 1500 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type Told = { status: string; lease?: { id: string; expiresAt: number } };
type Waiting = { n: number; until: number; hold: Disposable; told?: Told };

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** The outside's view of one key, and the conditions on it after each step. */
class Watch {
  readonly object: PromptCache;
  readonly key: string;
  granted: { id: string; expiresAt: number }[] = [];
  ended = new Set<string>();
  waiting: Waiting[] = [];
  n = 0;
  now = () => control.clockAt ?? 0;

  constructor(object: PromptCache, key: string) {
    this.object = object;
    this.key = key;
  }

  current = () => this.granted.find(({ id, expiresAt }) => !this.ended.has(id) && expiresAt > this.now());

  async run(one: Step): Promise<void> {
    if (one.do === "lease") await this.lease(one.waitMs);
    if (one.do === "set") this.set(one.mine);
    if (one.do === "release") this.release(one.which);
    if (one.do === "forget") {
      this.endAll();
      this.object.forget(this.key);
    }
    if (one.do === "leave") this.leave(one.which);
    if (one.do === "pass") {
      control.clockAt = this.now() + one.ms;
      // An event: the object looks at the clock.
      this.object.get(this.key);
    }
    await this.check();
  }

  async lease(waitMs: number): Promise<void> {
    const held = this.object.lease({ key: this.key, leaseMs: LEASE_MS, waitMs });
    if (held.status === "lease") return this.grant(held.lease);
    if (held.status !== "held") return;
    const waiter: Waiting = { n: this.n++, until: this.now() + waitMs, hold: held.hold };
    this.waiting.push(waiter);
    void held.answer().then((told) => (waiter.told = told));
  }

  set(mine: boolean): void {
    const value = new TextEncoder().encode("1");
    const lease = mine ? (this.granted.at(-1)?.id ?? "none") : undefined;
    const isCurrent = lease === this.current()?.id;
    const set = this.object.set({ key: this.key, value, ttlMs: null }, lease);
    must(set.ok === (lease === undefined || isCurrent), "a set was taken or refused wrongly");
    if (set.ok) this.endAll();
    // The value must not answer what comes next.
    if (set.ok) this.object.take(this.key);
  }

  release(which: number): void {
    const { id } = this.granted.at(-1 - (which % Math.max(1, this.granted.length))) ?? { id: "none" };
    this.ended.add(id);
    this.object.release(this.key, id);
  }

  leave(which: number): void {
    const [gone] = this.waiting.splice(which % Math.max(1, this.waiting.length), 1);
    gone?.hold[Symbol.dispose]();
  }

  endAll(): void {
    for (const { id } of this.granted) this.ended.add(id);
  }

  grant(lease: { id: string; expiresAt: number }): void {
    must(this.current() === undefined, "two creators at once");
    this.granted.push(lease);
  }

  async check(): Promise<void> {
    // Lets the answers through.
    for (let i = 0; i < 5; i++) await Promise.resolve();
    const told = this.waiting.filter((waiter) => waiter.told !== undefined);
    const leased = told.filter(({ told: answer }) => answer?.status === "lease");
    for (const { told: answer } of leased) if (answer?.lease) this.grant(answer.lease);
    this.waiting = this.waiting.filter((waiter) => waiter.told === undefined);
    for (const { n } of leased)
      must(
        this.waiting.every((waiter) => waiter.n > n),
        "out of order",
      );
    must(this.waiting.length === 0 || this.current() !== undefined, "someone waits for nobody");
    must(
      this.waiting.every(({ until }) => until > this.now()),
      "held for too long",
    );
  }
}

it("has one creator at a time, in order of waiting, and keeps nobody waiting for nobody", async () => {
  const shard = env.PROMPT_CACHE.getByName("property");
  await runInDurableObject(shard, async (object) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        control.clockAt = 1_800_000_000_000;
        const watch = new Watch(object, crypto.randomUUID());
        for (const one of steps) await watch.run(one);
        // At the latest when every lease and every wait has run out, everyone has an answer.
        for (let i = 0; i <= steps.length; i++) await watch.run({ do: "pass", ms: LEASE_MS });
        expect(watch.waiting).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
