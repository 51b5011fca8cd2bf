import { ObjectStorage } from "./object-storage.ts";
import { Sql } from "./sql.ts";
import type { DatabaseSync } from "node:sqlite";

/** A Durable Object, as its runtime sees it. */
type RunnableObject = { alarm?: () => void | Promise<void> };
type Instance = {
  object: RunnableObject;
  ready: Promise<unknown>;
  sql: Sql;
  alarmAt: number | null;
  timer?: ReturnType<typeof setTimeout>;
  failures: number;
  /** An object's alarms run one after another. */
  running: boolean;
  ringing: Promise<void>;
};
type Parts = {
  make: (ctx: DurableObjectState) => RunnableObject;
  open: () => DatabaseSync;
  now: () => number;
};

/** An alarm that fails is tried again so often, the time between doubling from two seconds on, as the platform does. */
const ALARM_TRIES = 6;
const ALARM_RETRY_MS = 2_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The objects of one class, each with a database in memory. Their alarms ring by timers, and where `ringDue` is called. */
export class Objects {
  readonly #parts: Parts;
  readonly #instances = new Map<string, Instance>();
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A stub of the object of this name. */
  getByName(name: string): object {
    const instance = this.#instances.get(name) ?? this.#begin(name);
    return new Proxy({}, { get: (_, method) => (method === "then" ? undefined : callOf(instance, method)) });
  }

  /** Rings the alarms that are due within so many milliseconds. False if there was none, and none was running. */
  async ringDue(withinMs: number): Promise<boolean> {
    const until = this.#parts.now() + withinMs;
    const due = [...this.#instances.values()].filter(
      ({ alarmAt, running }) => running || (alarmAt !== null && alarmAt <= until),
    );
    await Promise.all(due.map((instance) => this.#ring(instance, until)));
    return due.length > 0;
  }

  close(): void {
    this.#closed = true;
    for (const { timer, sql } of this.#instances.values()) {
      clearTimeout(timer);
      sql.close();
    }
    this.#instances.clear();
  }

  #begin(name: string): Instance {
    const sql = new Sql(this.#parts.open());
    const instance: Instance = {
      object: {},
      ready: Promise.resolve(),
      sql,
      alarmAt: null,
      failures: 0,
      running: false,
      ringing: Promise.resolve(),
    };
    this.#instances.set(name, instance);
    const state = {
      id: { name, toString: () => name },
      storage: new ObjectStorage(sql, (at) => this.#arm(instance, at)),
      waitUntil: () => {},
      blockConcurrencyWhile: <T>(work: () => Promise<T>): Promise<T> => {
        const done = work();
        instance.ready = done;
        return done;
      },
    };
    // It has of a state what Cairn's objects ask for.
    instance.object = this.#parts.make(state as unknown as DurableObjectState);
    return instance;
  }

  #arm(instance: Instance, at: number | null): void {
    clearTimeout(instance.timer);
    instance.alarmAt = at;
    if (at === null || this.#closed) return;
    const delay = Math.min(Math.max(0, at - this.#parts.now()), LONGEST_TIMER_MS);
    instance.timer = setTimeout(() => {
      // A time beyond what a timer takes.
      if (at > this.#parts.now()) this.#arm(instance, at);
      else void this.#ring(instance, at);
    }, delay);
    // A test that is over does not wait for what its objects would do later.
    instance.timer.unref();
  }

  /** Runs the alarm if it is set for `until` or before, once those that ran before have ended. */
  #ring(instance: Instance, until: number): Promise<void> {
    const before = instance.ringing;
    const ring = async (): Promise<void> => {
      await before;
      if (instance.alarmAt === null || instance.alarmAt > until) return;
      this.#arm(instance, null);
      instance.running = true;
      await this.#alarm(instance);
      instance.running = false;
    };
    instance.ringing = ring();
    return instance.ringing;
  }

  async #alarm(instance: Instance): Promise<void> {
    try {
      await instance.ready;
      await instance.object.alarm?.();
      instance.failures = 0;
    } catch (error) {
      // What was closed meanwhile has nothing left to do.
      if (this.#closed) return;
      console.error({ message: "an alarm failed", error: String(error) });
      instance.failures++;
      if (instance.failures <= ALARM_TRIES)
        this.#arm(instance, this.#parts.now() + ALARM_RETRY_MS * 2 ** (instance.failures - 1));
    }
  }
}

/** A call of a method: what goes in and comes out are copies, but for what is handed over by reference. */
function callOf(instance: Instance, method: string | symbol) {
  return async (...given: unknown[]): Promise<unknown> => {
    await instance.ready;
    const called: unknown = Reflect.get(instance.object, method);
    if (typeof called !== "function") throw new TypeError(`there is no method ${String(method)}`);
    return copied(await Reflect.apply(called, instance.object, given.map(copied)));
  };
}

function copied<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch {
    // It holds a function or a target.
    return value;
  }
}
