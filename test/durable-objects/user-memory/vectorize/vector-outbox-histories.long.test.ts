// Whatever happens on the way: once all is quiet, the index holds exactly what the object holds.
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { modelTag, vectorId } from "../../../../src/platform/vectors/vector-id.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { type Subject, user, withOutbox } from "./outbox.ts";

afterEach(restore);

const MODELS = ["model", "next model"];
/** A write lands within 5 minutes: a late write after 4, all others within the lag. */
const LAG_MS = 120_000;
const model = fc.constantFrom(...MODELS);
const writes = fc.constantFrom("ok", "before", "after", "hang", "hang-after", "late", "twice");
const count = fc.integer({ min: 1, max: 4 });
const which = fc.nat(20);
const made = fc.boolean();
/** Which documents change while the index is being called. */
const meanwhile = fc.array(which, { maxLength: 3 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("put" as const), count, model }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("remove" as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("switch" as const), which, model }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("again" as const), model }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("drain" as const), writes, meanwhile }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("die" as const), made, writes }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("unread" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lag" as const), ms: fc.nat(LAG_MS) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.nat(150_000) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class History {
  readonly subject: Subject;
  #n = 0;

  constructor(subject: Subject) {
    this.subject = subject;
  }

  async perform(next: Step): Promise<void> {
    const { subject } = this;
    switch (next.do) {
      case "put":
        for (let i = 0; i < next.count; i++) subject.put(++this.#n, next.model);
        break;
      case "remove":
        for (const n of this.#chosen(next.which)) subject.remove(n);
        break;
      case "switch":
        this.#switch(next.which, next.model);
        break;
      case "again":
        subject.outbox.putAgain(next.model, this.#with(next.model));
        break;
      case "drain":
        control.vectorizeWrites = next.writes;
        control.duringVectorizeWrite = async () => {
          for (const chosen of next.meanwhile) this.#switch(chosen, "model");
        };
        await subject.outbox.drain();
        break;
      case "die":
        control.vectorizeWrites = next.writes;
        await subject.dieIn(next.made);
        break;
      case "unread":
        control.vectorizeReads = "fail";
        await subject.outbox.drain();
        break;
      case "lag":
        control.vectorizeLag = next.ms;
        break;
      case "pass":
        control.clockAt = clock() + next.ms;
    }
    control.vectorizeWrites = "ok";
    control.vectorizeReads = "ok";
    control.duringVectorizeWrite = async () => {};
    await this.#check();
  }

  /** Both ways, so that a document comes back to a model that it had before. */
  #switch(index: number, to: string): void {
    for (const n of this.#chosen(index))
      if (this.subject.held.get(n)?.has(to)) this.subject.drop(n, to);
      else this.subject.put(n, to);
  }

  #chosen(index: number): number[] {
    const live = [...this.subject.held.keys()];
    return live.slice(index % live.length, (index % live.length) + 1);
  }

  #with(wanted: string): number[] {
    return [...this.subject.held].flatMap(([n, models]) => (models.has(wanted) ? [n] : []));
  }

  /** A search of the index finds all that the object takes for confirmed. */
  async #check(): Promise<void> {
    const { subject } = this;
    for (const [n, models] of subject.held)
      for (const one of models) {
        if ([...subject.outbox.unconfirmed(one)].includes(n)) continue;
        const id = vectorId(user, n, await modelTag(one));
        if (!(await subject.index.present([id])).has(id)) throw new Error(`${id} is confirmed and missing`);
      }
  }
}

it("holds what the object holds after any history of puts, removals, faults, evictions and lags", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      restore();
      await withOutbox(async (subject) => {
        const history = new History(subject);
        for (const next of steps) await history.perform(next);
        await subject.settle();
        expect(subject.double.ids()).toEqual(await subject.wanted());
        expect(subject.rows()).toBe(0);
        expect(subject.outbox.pending()).toEqual({ put: 0, remove: 0 });
      });
    }),
    { numRuns: 300 },
  );
});
