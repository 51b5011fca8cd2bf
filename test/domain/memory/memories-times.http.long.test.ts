// Facts in two times, what was true and what was held true, against a model that keeps a copy of all it held after each write.
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { forget, get, history, list, patch, recall, remember, restoreVersion } from "../../memory-calls.ts";

afterEach(restore);

const T = 1_780_000_000_000;
const STEP = 1000;
const subjects = ["Alice", "Bob"] as const;

/** A statement: `object` is true from `from` until before `to`, or until the next statement begins. */
type Statement = { version: number; object: string; from: number; to: number };
type Held = { time: number; statements: Statement[] };
type Times = { from?: number; to?: number };
type Step = { fact: number; wait: number } & (
  | ({ do: "remember"; object: string } & Times)
  | { do: "correct"; object: string }
  | { do: "end"; to: number | null }
  | { do: "restore"; which: number }
  | { do: "forget" }
);

/** One fact as it is meant to be. */
class Fact {
  id: string | null = null;
  /** All that was ever held, the latest last. */
  held: Held[] = [];
  /** The statement of each version. */
  said = new Map<number, { object: string; to: number }>();

  get statements(): Statement[] {
    return this.held.at(-1)?.statements ?? [];
  }

  /** Which statement a correction is about: the one that has begun last, else the last of all. */
  current(now: number): Statement | undefined {
    return inOrder(this.statements).findLast(({ from }) => from <= now) ?? inOrder(this.statements).at(-1);
  }

  /** The effect of a statement on those that are held: the one in whose place it stands, and itself. */
  stated(object: string, { from, to }: Times, now: number) {
    const begins = from ?? now;
    const before = inOrder(this.statements).findLast((one) => one.from <= begins);
    const after = inOrder(this.statements).find((one) => one.from > begins);
    const goesOn = before !== undefined && before.object === object && before.to > begins;
    const reaches = after !== undefined && after.object === object && (to ?? Infinity) >= after.from;
    const same = goesOn ? before : reaches ? after : undefined;
    const statement = {
      object,
      from: Math.min(begins, same?.from ?? Infinity),
      to: to ?? same?.to ?? Infinity,
    };
    return { same, statement };
  }

  note(time: number, gone: Statement | undefined, statement: Statement): void {
    const statements = [...this.statements.filter((one) => one !== gone), statement];
    this.held.push({ time, statements });
    this.said.set(statement.version, statement);
  }

  /** The truth at a time as it was held at another, and until when. */
  answer(validAt: number, asOf: number): { object: string; to: number } | undefined {
    const statements = inOrder(this.held.findLast(({ time }) => time <= asOf)?.statements ?? []);
    const i = statements.findLastIndex(({ from }) => from <= validAt);
    const found = statements[i];
    if (found === undefined) return undefined;
    const to = Math.min(found.to, statements[i + 1]?.from ?? Infinity);
    return validAt < to ? { object: found.object, to } : undefined;
  }
}

const inOrder = (statements: readonly Statement[]): Statement[] =>
  statements.toSorted((a, b) => a.from - b.from || a.version - b.version);

const around = fc.integer({ min: -15, max: 15 }).map((n) => n * 700);
const word = fc.constantFrom("Lisbon", "Porto");
const about = { fact: fc.integer({ min: 0, max: 1 }), wait: fc.integer({ min: 1, max: 4 }) };
const says = { do: fc.constant("remember" as const), object: word };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ...about, ...says }) },
  {
    weight: 6,
    arbitrary: fc.record(
      { ...about, ...says, from: around, to: around },
      { requiredKeys: ["fact", "wait", "do", "object"] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ ...about, do: fc.constant("correct" as const), object: word }) },
  {
    weight: 2,
    arbitrary: fc.record({ ...about, do: fc.constant("end" as const), to: fc.option(around) }),
  },
  { weight: 2, arbitrary: fc.record({ ...about, do: fc.constant("restore" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ ...about, do: fc.constant("forget" as const) }) },
);

const UNKNOWN = "019a0000-0000-7000-8000-000000000000";

type Statuses = { got: number; wanted: number };

/** Takes one step in Cairn and in the model; times in it count from now. Answers how each of the two took it. */
async function take(user: string, fact: Fact, subject: string, one: Step, now: number): Promise<Statuses> {
  const id = fact.id ?? UNKNOWN;
  const current = fact.current(now);
  if (one.do === "forget") {
    fact.held = [];
    return { got: (await forget(user, id)).status, wanted: current === undefined ? 404 : 204 };
  }
  if (one.do === "remember") {
    const [from, to] = [one.from, one.to].map((time) => (time === undefined ? undefined : now + time));
    const times = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    const { same, statement } = fact.stated(one.object, times, now);
    const body = { subject, predicate: "lives in", object: one.object, validFrom: from, validTo: to };
    const answer = await remember(user, body);
    const impossible = from !== undefined && to !== undefined && to <= from;
    if (impossible || statement.to <= statement.from) return { got: answer.status, wanted: 400 };
    fact.id = answer.body.id;
    fact.note(now, same, { ...statement, version: answer.body.version });
    return { got: answer.status, wanted: current === undefined ? 201 : 200 };
  }
  if (one.do === "restore") {
    const versions = [...fact.said.keys()];
    const version = versions[one.which % Math.max(versions.length, 1)] ?? 1;
    const answer = await restoreVersion(user, id, version);
    const past = fact.said.get(version);
    const kept = current !== undefined && (await history(user, id)).some((row) => row.version === version);
    if (current === undefined || past === undefined || !kept) return { got: answer.status, wanted: 404 };
    const to = past.to <= current.from ? current.to : past.to;
    fact.note(now, current, { ...current, object: past.object, to, version: answer.body.version });
    return { got: answer.status, wanted: 200 };
  }
  const to = one.do === "end" ? (one.to === null ? Infinity : now + one.to) : current?.to;
  const change = one.do === "end" ? { validTo: to === Infinity ? null : to } : { object: one.object };
  const answer = await patch(user, id, change);
  if (current === undefined) return { got: answer.status, wanted: 404 };
  if ((to ?? 0) <= current.from) return { got: answer.status, wanted: 400 };
  const object = one.do === "correct" ? one.object : current.object;
  fact.note(now, current, { ...current, object, to: to ?? Infinity, version: answer.body.version });
  return { got: answer.status, wanted: 200 };
}

/** Get, list and recall say of a moment what the model says. */
async function compare(
  user: string,
  facts: readonly Fact[],
  now: number,
  at: { asOf?: number; validAt?: number },
) {
  const query = new URLSearchParams(Object.entries(at).map(([name, time]) => [name, String(time)]));
  const wanted = facts.map((fact) => fact.answer(at.validAt ?? at.asOf ?? now, at.asOf ?? Infinity));
  const told = (rows: readonly Record<string, unknown>[]) =>
    subjects.map((subject) => {
      const found = rows.filter((row) => row.subject === subject);
      expect(found.length).toBeLessThan(2);
      return found[0] && { object: found[0].object, to: found[0].validTo ?? Infinity };
    });
  expect(told(await list(user, query.toString()))).toEqual(wanted);
  expect(told(await recall(user, { query: "lives", ...at }))).toEqual(wanted);
  for (const [i, fact] of facts.entries()) {
    const { status, body } = await get(user, fact.id ?? UNKNOWN, query.toString());
    expect(status === 404 ? undefined : { object: body.object, to: body.validTo ?? Infinity }).toEqual(
      wanted[i],
    );
  }
}

it("answers of any moment as somebody would who had kept every state", async () => {
  const moments = fc.array(fc.tuple(fc.option(fc.nat(100)), fc.option(fc.integer({ min: -20, max: 120 }))), {
    minLength: 2,
    maxLength: 2,
  });
  const steps = fc.array(fc.tuple(step, moments), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const user = newUser();
      const facts = subjects.map(() => new Fact());
      let now = T;
      for (const [one, asked] of taken) {
        now += one.wait * STEP;
        control.clockAt = now;
        const [fact, subject] = [facts[one.fact], subjects[one.fact]];
        if (fact === undefined || subject === undefined) throw new Error("a step is about a fact");
        const { got, wanted } = await take(user, fact, subject, one, now);
        expect(got).toBe(wanted);
        // A write takes some ticks of the clock.
        now += STEP / 2;
        control.clockAt = now;
        await compare(user, facts, now, {});
        for (const [held, valid] of asked) {
          // Moments of the whole history so far, and, of what is true, of around it.
          const asOf = held === null ? undefined : T + Math.round(((now - T) * held) / 100);
          const validAt = valid === null ? undefined : T + Math.round(((now - T) * valid) / 100);
          await compare(user, facts, now, {
            ...(asOf !== undefined && { asOf }),
            ...(validAt !== undefined && { validAt }),
          });
        }
      }
    }),
    { numRuns: 30 },
  );
});
