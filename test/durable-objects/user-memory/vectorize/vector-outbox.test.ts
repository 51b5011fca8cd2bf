// The large vector index follows the object, also through faults.
import { afterEach, describe, expect, it } from "vitest";
import { clock, control, restore } from "../../../doubles/control.ts";
import { MODEL, SPOILT, type Subject, withOutbox } from "./outbox.ts";

afterEach(restore);

const MINUTE = 60_000;
const range = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const pass = (ms: number) => void (control.clockAt = clock() + ms);
const putAll = (subject: Subject, ns: readonly number[]) => {
  for (const n of ns) subject.put(n);
};

it("sends what was put, and keeps no row of what has read back", () =>
  withOutbox(async (subject) => {
    putAll(subject, [1, 2, 3]);
    expect(subject.outbox.nextDue()).toBe(clock());
    expect([...subject.outbox.unconfirmed(MODEL)]).toEqual([3, 2, 1]);
    expect(subject.outbox.pending()).toEqual({ put: 3, remove: 0 });
    await subject.settle();
    expect(subject.double.ids()).toEqual(await subject.wanted());
    expect(subject.double.calls).toMatchObject({ upsert: 1, getByIds: 1 });
    expect([subject.rows(), subject.outbox.nextDue()]).toEqual([0, null]);
  }));

it("takes a vector for confirmed when it reads back, two minutes later if it shows no sooner", () =>
  withOutbox(async (subject) => {
    control.vectorizeLag = 2 * MINUTE;
    subject.put(1);
    await subject.outbox.drain();
    for (let past = 0; past < 2 * MINUTE; past += 5_000) {
      expect([...subject.outbox.unconfirmed(MODEL)]).toEqual([1]);
      pass(5_000);
      await subject.outbox.drain();
    }
    pass(MINUTE);
    await subject.outbox.drain();
    expect([...subject.outbox.unconfirmed(MODEL)]).toEqual([]);
    expect(subject.outbox.pending()).toEqual({ put: 0, remove: 0 });
    expect(subject.double.calls.upsert).toBe(1);
  }));

it("sends what does not show again after 2, 4, 8, 16 and then every 30 minutes, and finds it meanwhile", () =>
  withOutbox(async (subject) => {
    control.vectorizeLag = 100 * MINUTE;
    const began = clock();
    const sent: number[] = [];
    const compared = new Set<string>();
    control.duringVectorizeWrite = async () => void sent.push((clock() - began) / MINUTE);
    putAll(subject, [1, 2]);
    for (let due = subject.outbox.nextDue(); due !== null; due = subject.outbox.nextDue()) {
      if (clock() - began < 100 * MINUTE) compared.add([...subject.outbox.unconfirmed(MODEL)].join());
      control.clockAt = Math.max(clock(), due);
      await subject.outbox.drain();
    }
    // It looks whether they show in steps of up to five minutes.
    const steps = sent.slice(1).map((minute, i) => minute - (sent[i] ?? 0));
    for (const [i, least] of [2, 4, 8, 16, 30].entries()) {
      expect(steps[i]).toBeGreaterThanOrEqual(least);
      expect(steps[i]).toBeLessThan(least + 5);
    }
    expect(subject.double.calls.upsert).toBe(7);
    expect(compared).toEqual(new Set(["2,1"]));
    expect(subject.double.ids()).toEqual(await subject.wanted());
    expect(subject.rows()).toBe(0);
  }));

it("begins with 2 minutes again for a vector that is put anew", () =>
  withOutbox(async (subject) => {
    control.vectorizeLag = 30 * MINUTE;
    subject.put(1);
    await subject.settle();
    expect(subject.double.calls.upsert).toBeGreaterThan(2);
    const before = subject.double.calls.upsert;
    control.vectorizeLag = 3 * MINUTE;
    subject.outbox.putAgain(MODEL, [1]);
    await subject.settle();
    expect(subject.double.calls.upsert).toBe(before + 1);
  }));

it("makes no call for what is removed before it is sent", () =>
  withOutbox(async (subject) => {
    putAll(subject, [1, 2]);
    subject.remove(1, 2);
    expect(subject.rows()).toBe(0);
    await subject.settle();
    expect(subject.double.calls).toMatchObject({ upsert: 0, deleteByIds: 0 });
  }));

it("deletes a confirmed vector within seconds once its upsert is five minutes old", () =>
  withOutbox(async (subject) => {
    subject.put(1);
    await subject.settle();
    pass(MINUTE);
    subject.remove(1);
    expect(subject.outbox.pending()).toEqual({ put: 0, remove: 1 });
    await subject.outbox.drain();
    pass(5_000);
    await subject.outbox.drain();
    expect(subject.outbox.pending()).toEqual({ put: 0, remove: 0 });
    await subject.settle();
    expect(subject.double.ids()).toEqual([]);
    expect(subject.double.calls.deleteByIds).toBe(1);
  }));

it("does not believe that a fresh vector is gone before what was sent can land no more", () =>
  withOutbox(async (subject) => {
    subject.put(1);
    await subject.outbox.drain();
    const sent = clock();
    subject.remove(1);
    await subject.outbox.drain();
    while (clock() < sent + 5 * MINUTE) {
      expect(subject.outbox.pending()).toEqual({ put: 0, remove: 1 });
      pass(5_000);
      await subject.outbox.drain();
    }
    expect(subject.outbox.pending()).toEqual({ put: 0, remove: 0 });
  }));

it.each(["late", "twice"] as const)("deletes again what an upsert that lands %s brought back", (how) =>
  withOutbox(async (subject) => {
    control.vectorizeWrites = how;
    subject.put(1);
    await subject.outbox.drain();
    control.vectorizeWrites = "ok";
    pass(5_000);
    await subject.outbox.drain();
    subject.remove(1);
    await subject.settle();
    expect(subject.double.calls.deleteByIds).toBe(2);
    expect(subject.double.ids()).toEqual([]);
    expect(subject.rows()).toBe(0);
  }),
);

it("sends the delete after the upsert that is under way", () =>
  withOutbox(async (subject) => {
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    const { index } = subject;
    const slow = subject.over({
      upsert: async (records) => {
        await held.promise;
        await index.upsert(records);
        order.push("upsert");
      },
      deleteByIds: async (ids) => {
        await index.deleteByIds(ids);
        order.push("delete");
      },
      present: (ids) => index.present(ids),
      query: (vector, query) => index.query(vector, query),
      check: (dimensions) => index.check(dimensions),
    });
    subject.outbox = slow;
    subject.put(1);
    const first = slow.drain();
    await scheduler.wait(1);
    subject.remove(1);
    const second = slow.drain();
    held.resolve();
    await Promise.all([first, second]);
    expect(order).toEqual(["upsert", "delete"]);
    await subject.settle();
    expect(subject.double.ids()).toEqual([]);
  }));

it("sends at most 300 vectors a drain, 100 a call, and goes on at once", () =>
  withOutbox(async (subject) => {
    putAll(subject, range(650));
    await subject.outbox.drain();
    expect(subject.double.calls.upsert).toBe(3);
    expect(subject.outbox.nextDue()).toBe(clock());
    await subject.settle();
    expect(subject.double.calls.upsert).toBe(7);
    expect(subject.double.ids()).toHaveLength(650);
    subject.remove(...range(650));
    await subject.settle();
    expect(subject.double.calls.deleteByIds).toBe(7);
    expect(subject.double.ids()).toEqual([]);
  }));

it("tries again later and later while the index is down, all that waits together", () =>
  withOutbox(async (subject) => {
    control.vectorizeWrites = "before";
    putAll(subject, range(250));
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      const before = subject.double.calls.upsert;
      await subject.outbox.drain();
      expect(subject.double.calls.upsert).toBe(before + 1);
      const due = subject.outbox.nextDue() ?? 0;
      waits.push(due - clock());
      control.clockAt = due;
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    control.vectorizeWrites = "ok";
    await subject.settle();
    expect(subject.double.ids()).toEqual(await subject.wanted());
  }));

it("reads back later and later while reads fail", () =>
  withOutbox(async (subject) => {
    subject.put(1);
    await subject.outbox.drain();
    control.vectorizeReads = "fail";
    for (let i = 0; i < 5; i++) {
      control.clockAt = subject.outbox.nextDue() ?? 0;
      await subject.outbox.drain();
    }
    expect([...subject.outbox.unconfirmed(MODEL)]).toEqual([1]);
    expect((subject.outbox.nextDue() ?? 0) - clock()).toBe(80_000);
    control.vectorizeReads = "ok";
    await subject.settle();
    expect([subject.rows(), subject.double.calls.upsert]).toEqual([0, 1]);
  }));

describe.each(["before", "after", "hang", "hang-after", "late", "twice"] as const)(
  "writes that go %s",
  (how) => {
    it("leave in the end what the object holds", () =>
      withOutbox(async (subject) => {
        control.vectorizeWrites = how;
        putAll(subject, [1, 2, 3]);
        await subject.outbox.drain();
        subject.remove(2);
        await subject.outbox.drain();
        control.vectorizeWrites = "ok";
        await subject.settle();
        expect(subject.double.ids()).toEqual(await subject.wanted());
        expect(subject.rows()).toBe(0);
      }));
  },
);

describe.each([
  ["before", false],
  ["after", true],
] as const)("an object that dies %s a call is made", (_, made) => {
  it("goes on with the next drain", () =>
    withOutbox(async (subject) => {
      putAll(subject, [1, 2, 3]);
      await subject.dieIn(made);
      subject.remove(2);
      control.clockAt = (subject.outbox.nextDue() ?? 0) + 1;
      await subject.dieIn(made);
      await subject.dieIn(made);
      await subject.settle();
      expect(subject.double.ids()).toEqual(await subject.wanted());
      expect(subject.rows()).toBe(0);
    }));

  it("waits before it tries again", () =>
    withOutbox(async (subject) => {
      subject.put(1);
      await subject.dieIn(made);
      expect(subject.outbox.nextDue()).toBe(clock() + 5_000);
    }));
});

it("keeps one model's vectors going while the index refuses another's", () =>
  withOutbox(async (subject) => {
    const { index } = subject;
    const picky = subject.over({
      upsert: (records) =>
        records.every(({ metadata }) => metadata.model === MODEL)
          ? index.upsert(records)
          : Promise.reject(new Error("VECTOR_UPSERT_ERROR (code = 40012): expected 4 dimensions")),
      deleteByIds: (ids) => index.deleteByIds(ids),
      present: (ids) => index.present(ids),
      query: (vector, query) => index.query(vector, query),
      check: (dimensions) => index.check(dimensions),
    });
    subject.outbox = picky;
    subject.put(1, "of another dimension");
    subject.put(2);
    await subject.outbox.drain();
    pass(5_000);
    await subject.outbox.drain();
    expect([...subject.outbox.unconfirmed(MODEL)]).toEqual([]);
    expect([...subject.outbox.unconfirmed("of another dimension")]).toEqual([1]);
    subject.drop(1, "of another dimension");
    await subject.settle();
    expect(subject.rows()).toBe(0);
  }));

it("deletes what the object no longer has when its turn comes", () =>
  withOutbox(async (subject) => {
    putAll(subject, [1, 2]);
    subject.held.delete(1);
    await subject.settle();
    expect(subject.double.ids()).toEqual(await subject.wanted());
  }));

it("does not send a vector that no index takes, nor try it for ever", () =>
  withOutbox(async (subject) => {
    subject.put(SPOILT);
    subject.put(1);
    await subject.settle();
    expect(subject.double.ids()).toHaveLength(1);
    expect(subject.rows()).toBe(0);
  }));

it("puts back a vector of a model that is returned to while its delete is under way", () =>
  withOutbox(async (subject) => {
    subject.put(1);
    await subject.settle();
    control.vectorizeWrites = "late";
    subject.drop(1, MODEL);
    await subject.outbox.drain();
    control.vectorizeWrites = "ok";
    subject.put(1);
    expect([...subject.outbox.unconfirmed(MODEL)]).toEqual([1]);
    await subject.settle();
    expect(subject.double.ids()).toEqual(await subject.wanted());
  }));

it("does not send a delete that was taken back while another call was under way", () =>
  withOutbox(async (subject) => {
    subject.put(1);
    await subject.settle();
    subject.put(2);
    pass(1);
    subject.drop(1, MODEL);
    control.duringVectorizeWrite = async () => subject.put(1);
    await subject.outbox.drain();
    expect(subject.double.calls.deleteByIds).toBe(0);
    await subject.settle();
    expect(subject.double.ids()).toEqual(await subject.wanted());
  }));

it("sends all once more for a reindex, and heals what the index has lost", () =>
  withOutbox(async (subject) => {
    putAll(subject, range(5));
    await subject.settle();
    await subject.double.deleteByIds(subject.double.ids().slice(0, 2));
    subject.outbox.putAgain(MODEL, range(5));
    expect(subject.outbox.pending()).toEqual({ put: 5, remove: 0 });
    subject.remove(5);
    await subject.settle();
    expect(subject.double.ids()).toEqual(await subject.wanted());
  }));

it("keeps nothing without an index, and puts all that there is when one is bound", () =>
  withOutbox(async (subject) => {
    const bound = subject.outbox;
    subject.outbox = subject.over(null);
    putAll(subject, [1, 2, 3]);
    subject.remove(3);
    expect(subject.rows()).toBe(0);
    expect(subject.outbox.adopt(MODEL, () => [1, 2])).toBe(false);
    expect([...subject.outbox.unconfirmed(MODEL)]).toEqual([]);
    expect(subject.outbox.nextDue()).toBeNull();
    await subject.outbox.drain();
    subject.outbox = bound;
    expect(bound.adopt(MODEL, () => [1, 2])).toBe(true);
    expect(bound.adopt(MODEL, () => [1, 2])).toBe(false);
    await subject.settle();
    expect(subject.double.ids()).toEqual(await subject.wanted());
    subject.over(null).put(4, MODEL);
    expect(bound.adopt(MODEL, () => [1, 2])).toBe(true);
  }));

it("takes what a DELETE of a range answers", () =>
  withOutbox(async (subject) => {
    putAll(subject, range(5));
    await subject.settle();
    subject.sql.exec("CREATE TABLE held (n INTEGER PRIMARY KEY, model TEXT)");
    for (const n of range(5)) subject.sql.exec("INSERT INTO held VALUES (?, ?)", n, MODEL);
    const gone = "DELETE FROM held WHERE n BETWEEN ? AND ? RETURNING n, model";
    subject.outbox.remove(subject.sql.exec<{ n: number; model: string }>(gone, 2, 4));
    for (const n of [2, 3, 4]) subject.held.delete(n);
    expect(subject.outbox.pending()).toEqual({ put: 0, remove: 3 });
    await subject.settle();
    expect(subject.double.ids()).toEqual(await subject.wanted());
  }));
