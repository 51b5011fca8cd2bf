import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { clock, control } from "../doubles/control.ts";
import { landHeld } from "../doubles/held-writes.ts";
import type { Answered } from "./candidates.ts";
import { checkMeant, checkQuiet, checkRecalled, checkRecord } from "./checks.ts";
import type { VectorizeDouble } from "../doubles/vectorize.ts";
import { Chooser, type Chosen } from "./choose.ts";
import { heal, inject, openIntents } from "./inject.ts";
import { heard, settled, until } from "./polling.ts";
import type { Fault, Operation, Step, Upkeep } from "./steps.ts";
import { User } from "./user.ts";
import { said } from "./world.ts";

/** As much as an object is ahead of the clock at most: each write of memories has a millisecond of its own. */
const AHEAD_MS = 100;

/** Performs the steps of a history on two users, and checks each of them after every step. */
export class History {
  readonly users: readonly User[];
  readonly #chooser = new Chooser();
  #steps = 0;

  constructor(names: readonly string[]) {
    this.users = names.map((name) => new User(name));
  }

  async perform(step: Step): Promise<void> {
    this.#steps++;
    this.#chooser.look();
    const user = "user" in step ? this.users[step.user] : undefined;
    if (env.CAIRN_SEED !== "") console.log(JSON.stringify(step));
    switch (step.do) {
      case "clock":
        // A clock that is set back may bring back what has expired: that is not what is tested here.
        if (step.ms > 0 || !this.#chooser.expiring) control.clockAt = clock() + step.ms;
        break;
      case "land":
        await landHeld();
        break;
      case "lag":
        control.vectorizeLag = step.ms;
        break;
      case "evict":
        await user?.evict();
        break;
      case "perform":
        if (user) await this.#perform(user, step.op, step.fault);
        break;
      case "meanwhile":
        if (user) await this.#meanwhile(user, step);
        break;
      case "open": {
        const { first, lost: how, second, d1 } = step;
        if (user) await this.#perform(user, first, { d1: [how] });
        if (user) await checkRecalled(user);
        if (user) await this.#perform(user, about(first, second), { d1 });
        break;
      }
      case "renew":
        if (user) await this.#renew(user, step.body);
        break;
      case "lose":
        if (user) await this.#lose(user, step);
        break;
      case "die":
        if (user) await this.#die(user, step);
        break;
    }
    this.#expire();
    for (const one of this.users) {
      if (one === user || user === undefined || step.do === "die") await check(one);
      // One user's acts show in the other's data sooner or later: not every step has to look.
      else if (this.#steps % 3 === 0) await checkRecalled(one);
      if (this.#steps % 4 === 0) await checkMeant(one);
    }
  }

  /** No more faults: when the alarms have nothing left to do, all agree. */
  async comeToRest(vectorize: VectorizeDouble, landLate: boolean): Promise<void> {
    if (!landLate) await landHeld();
    for (const user of this.users) {
      await rest(user);
      user.model.expire(clock());
    }
    // A write that arrives now comes after all that was sent later.
    await landHeld();
    for (const user of this.users) {
      user.model.settled();
      user.model.expire(clock());
      await checkQuiet(user, vectorize);
      await check(user);
    }
  }

  async #perform(user: User, operation: Operation | Upkeep, fault: Fault): Promise<void> {
    const chosen = this.#chooser.choose(user, operation);
    await inject(user, fault);
    try {
      if (chosen === null) await this.#upkeep(user, operation);
      else user.model.performed([{ op: chosen.op, answered: await user.perform(chosen.op, chosen.key) }]);
    } finally {
      heal();
    }
  }

  /** The second operation begins inside the first, and is gone through with beside it. */
  async #meanwhile(user: User, step: Omit<Step & { do: "meanwhile" }, "do" | "user">): Promise<void> {
    const first = this.#chooser.choose(user, step.first);
    if (first === null && step.first.do !== "reindex") return;
    const second = this.#chooser.choose(user, step.same ? about(step.first, step.second) : step.second);
    const gate = { reached: false, open: false };
    const hook = async () => {
      if (gate.reached) return;
      gate.reached = true;
      await until(() => gate.open);
    };
    if (first === null) await this.#upkeep(user, { do: "reindex" });
    if (first === null) control.duringD1Read = hook;
    else if (step.at === "d1") control.duringD1Write = hook;
    else control.duringEmbed = hook;
    const acting = settled<Answered | boolean>(
      first === null ? user.alarm() : user.perform(first.op, first.key),
    );
    await until(() => gate.reached || acting.done);
    const held = gate.reached && !acting.done;
    const intents = await openIntents(user);
    const other = held
      ? settled<Answered | void>(
          second ? user.perform(second.op, second.key) : this.#upkeep(user, step.second),
        )
      : null;
    const noted = other !== null && (await heard(user, other, intents));
    // A forget is heard of at once, whatever it waits for then.
    if (noted && second?.op.do === "forget") await checkNotRecalled(user, second);
    heal();
    gate.open = true;
    const [answered, otherAnswered] = [await acting.promise, await other?.promise];
    const done = [
      { chosen: first, answered },
      { chosen: second, answered: otherAnswered },
    ];
    user.model.performed(
      done.flatMap((one) =>
        one.chosen && typeof one.answered === "object" ? [{ op: one.chosen.op, answered: one.answered }] : [],
      ),
    );
  }

  async #renew(user: User, body: (Operation & { do: "remember" })["body"]): Promise<void> {
    await this.#perform(user, { do: "remember", body: { ...body, expires: 1 } }, {});
    control.clockAt = clock() + 61_000;
    this.#chooser.look();
    this.#expire();
    const first = { do: "remember" as const, body: { ...body, expires: null } };
    await this.#meanwhile(user, { first, at: "d1", same: false, second: { do: "alarm" } });
  }

  async #die(user: User, { op: operation, at }: Step & { do: "die" }): Promise<void> {
    const chosen = this.#chooser.choose(user, operation);
    const forGood = () => {
      control.hanging = true;
      return new Promise<void>(() => {});
    };
    if (at === "embedder") control.duringEmbed = forGood;
    else if (at === "vectorize") control.duringVectorizeWrite = forGood;
    else control.d1Writes = at;
    const acting = settled(
      chosen
        ? user.perform(chosen.op, chosen.key).catch((): Answered => ({ how: "lost" }))
        : this.#upkeep(user, operation).then((): Answered => ({ how: "nothing" })),
    );
    await until(() => control.hanging || acting.done);
    heal();
    // Not in the middle of what the object does at this moment, which workerd does not survive.
    await scheduler.wait(1);
    await user.die();
    // A request that waits in the Worker itself goes on: the user's object has not heard of it yet.
    const answer = at === "embedder" ? await Promise.race([acting.promise, lost()]) : await acting.promise;
    // An alarm that did not come to its end rings again.
    await user.ringAgain();
    if (chosen) user.model.performed([{ op: chosen.op, answered: answer }]);
  }

  /** D1 has all that was acknowledged: a write that is still on its way is waited for, and forgets are confirmed. */
  async #lose(user: User, { behind, first }: Step & { do: "lose" }): Promise<void> {
    await landHeld();
    await rest(user);
    user.model.settled();
    await user.lose();
    await user.ask({ path: "reindex", method: "POST" });
    await rest(user);
    if (!this.#chooser.expiring) control.clockAt = clock() - behind;
    this.#chooser.look();
    // The clock went on to the alarms that were set.
    this.#expire();
    await this.#perform(user, first, {});
  }

  /**
   * The clock has gone on. An object that wrote several times in this millisecond is some ahead of it: at the end of a memory
   * the two would not agree, so the clock goes past it.
   */
  #expire(): void {
    const memos = this.users.flatMap(({ model }) => model.worlds.flat());
    const ends = memos.map((memo) => said(memo).expiresAt ?? 0);
    while (ends.some((end) => end >= clock() && end < clock() + AHEAD_MS))
      control.clockAt = clock() + AHEAD_MS;
    for (const { model } of this.users) model.expire(clock());
  }

  async #upkeep(user: User, operation: Operation | Upkeep): Promise<void> {
    if (operation.do === "alarm") await user.alarm();
    if (operation.do === "reindex") await user.ask({ path: "reindex", method: "POST" });
  }
}

/** The second operation, on what the first one is about. */
function about<T extends Operation | Upkeep>(first: Operation | Upkeep, second: T): T {
  const tag = "body" in first ? first.body.tag : "tag" in first ? first.tag : null;
  return {
    ...second,
    ...("which" in first && "which" in second && { which: first.which }),
    ...(tag !== null && "tag" in second && { tag }),
  };
}

/** The answer to the caller of an operation that got lost, in time. */
const lost = async (): Promise<Answered> => {
  await scheduler.wait(20);
  return { how: "lost" };
};

async function checkNotRecalled(user: User, { op }: Chosen): Promise<void> {
  const id = "birth" in op ? user.model.id(op.birth) : undefined;
  const back = (await user.recalled()).filter((one) => one.id === id);
  if (back.length > 0) throw new Error(`${user.name} recalls what is being forgotten: ${back[0]?.text}`);
}

/** Only the end of a wait in quarantine is so far away, which no history has. */
const FAR_MS = 20 * 24 * 60 * 60_000;

/** Rings the alarm whenever it is due, until none is set, or one for the end of a wait. */
async function rest(user: User): Promise<void> {
  for (let rung = 0; rung < 300; rung++) {
    const due = await runInDurableObject(await user.object(), (_, { storage }) => storage.getAlarm());
    if (due === null || due > clock() + FAR_MS) return;
    control.clockAt = Math.max(clock(), due);
    await user.alarm();
  }
  throw new Error(`the alarm of ${user.name} does not come to rest`);
}

async function check(user: User): Promise<void> {
  await checkRecalled(user);
  await checkRecord(user);
}
