import {
  find,
  type Memo,
  type Op,
  type Outcome,
  perform,
  said,
  unexpired,
  without,
  type World,
} from "./world.ts";

/** A world that may be the one in the end. `from`: it is if an operation was carried out whose answer was lost. */
type Candidate = { world: World; from: Candidate | null };
/** A memory as an answer shows it. */
export type Shown = { id: string; text: string; tags: readonly string[] };
/**
 * `lost`: nobody knows whether it was, or will be, carried out; `nothing`: it was not; `leaving`: what was to be
 * forgotten is gone from recall, and D1 may still show it.
 */
export type Answered =
  | { how: "done"; status: number; ids: readonly string[] }
  | { how: "lost" }
  | { how: "leaving" }
  | { how: "nothing" };

/**
 * All that a user's memories may be: what was acknowledged is in each of them, what was not is in some. What is seen
 * narrows them down.
 */
export class Candidates {
  #all: Candidate[] = [{ world: [], from: null }];
  /** The ids of memories, as far as they were seen. */
  readonly #ids = new Map<string, string>();
  /** Memories that were to be forgotten, and D1 may still show. */
  #leaving: World = [];

  get worlds(): readonly World[] {
    return this.#all.map(({ world }) => world);
  }

  get leaving(): World {
    return this.#leaving;
  }

  id(birth: string): string | undefined {
    return this.#ids.get(birth);
  }

  /** Memories that are there in any case, with ids that are known, in the order of birth. */
  targets(): { memo: Memo; id: string }[] {
    const [first, ...others] = this.worlds;
    return (first ?? []).flatMap((memo) => {
      const id = this.id(memo.birth);
      const sure = others.every((world) => find(world, memo.birth) !== undefined);
      return sure && id !== undefined ? [{ memo, id }] : [];
    });
  }

  /** True if a memory of this id may be there. */
  mayHave(id: string): boolean {
    return this.worlds.some((world) => world.some(({ birth }) => (this.id(birth) ?? id) === id));
  }

  /** The clock goes on: what has expired is gone. */
  expire(now: number): void {
    this.#all = distinct(this.#all.map((one) => mapped(one, (world) => unexpired(world, now))));
  }

  /** The possible outcomes of operations of one user at once, each in its turn: an order is what their answers fit. */
  performed(operations: readonly { op: Op; answered: Answered }[]): void {
    if (operations.length === 0) return;
    const before = this.#all;
    const after = orders(operations).flatMap((order) =>
      order.reduce((all, { op, answered }) => all.flatMap((one) => this.#after(one, op, answered)), before),
    );
    if (after.length === 0)
      throw new Error(
        `no world fits what was answered: ${JSON.stringify(operations)} in ${JSON.stringify(this.worlds)}`,
      );
    this.#all = distinct(after);
    for (const { op, answered } of operations) {
      if (forgets(op)) this.#noteLeaving(before, answered);
      // All that was open is carried out before this one, unless it was answered as it was before.
      const again = op.do === "remember" && op.once !== undefined;
      if (answered.how === "done" && answered.status < 400 && op.do !== "forget" && !again) this.settled();
    }
    if (operations.length === 1 && operations[0] !== undefined) this.#learnAnswered(before, operations[0]);
  }

  /** All intents are known to be carried out: D1 shows nothing but what is there. */
  settled(): void {
    this.#leaving = [];
  }

  /** Recall shows the object's memories, and those that may still come. Answers whether it fits. */
  seen(shown: readonly Shown[]): boolean {
    const fits = (one: Candidate): boolean => same(one.world, shown) || (one.from !== null && fits(one.from));
    const fitting = this.#all.filter(fits);
    if (fitting.length === 0) return false;
    this.#all = fitting;
    if (fitting.every(({ world }) => same(world, shown))) this.#learn(shown);
    return true;
  }

  /** One of them is the one, for certain. */
  resolve(is: (world: World) => boolean): boolean {
    const fitting = this.#all.filter(({ world }) => is(world));
    if (fitting.length === 0) return false;
    this.#all = distinct(fitting.map(({ world }) => ({ world, from: null })));
    return true;
  }

  #after(before: Candidate, op: Op, answered: Answered): Candidate[] {
    if (answered.how === "nothing") return [before];
    const outcomes = perform(before.world, op);
    if (answered.how === "done") {
      // An operation that changes nothing, or forgets one memory, leaves the rest open; all others come after that.
      const from =
        op.do === "forget" && before.from !== null
          ? mapped(before.from, (world) => without(world, op.birth))
          : null;
      return outcomes
        .filter((outcome) => this.#fits(outcome, op, answered))
        .map(({ world }) => ({ world, from: world === before.world ? before.from : from }));
    }
    if (!forgets(op)) return [before, ...outcomes.map(({ world }) => ({ world, from: before }))];
    return [...(answered.how === "lost" ? [before] : []), ...forgottenAtOnce(before, op)];
  }

  #fits({ status, births }: Outcome, op: Op, answered: Answered & { how: "done" }): boolean {
    // An expired memory is gone, and may be there to be deleted.
    const either = op.do === "forget" && status === 404 && answered.status === 204;
    if (status !== answered.status && !either) return false;
    return births.every((birth, i) => (this.id(birth) ?? answered.ids[i]) === answered.ids[i]);
  }

  #noteLeaving(before: readonly Candidate[], { how }: Answered): void {
    if (how !== "done") this.#leaving = [...this.#leaving, ...before.flatMap((one) => all(one))];
  }

  #learnAnswered(before: readonly Candidate[], { op, answered }: { op: Op; answered: Answered }): void {
    if (answered.how !== "done") return;
    for (const { world } of before)
      for (const { births } of perform(world, op))
        for (const [i, birth] of births.entries()) {
          const id = answered.ids[i];
          const there = this.worlds.some((one) => find(one, birth) !== undefined);
          if (id !== undefined && there && !this.#ids.has(birth)) this.#ids.set(birth, id);
        }
  }

  #learn(shown: readonly Shown[]): void {
    for (const { id, text } of shown) {
      const births = new Set(
        this.worlds.flatMap((world) =>
          world.filter((memo) => said(memo).text === text).map(({ birth }) => birth),
        ),
      );
      const [birth] = births;
      if (births.size !== 1 || birth === undefined) continue;
      if ((this.id(birth) ?? id) !== id) throw new Error(`${text} had the id ${this.id(birth)}, now ${id}`);
      this.#ids.set(birth, id);
    }
  }
}

/** A candidate and what was seen before its open operations, all changed alike. */
const mapped = (one: Candidate, change: (world: World) => World): Candidate => ({
  world: change(one.world),
  from: one.from && mapped(one.from, change),
});
/**
 * Forgetting takes effect at once, on what was seen then: what an open operation makes anew may come after it, unless
 * the filter was asked once more.
 */
function forgottenAtOnce(one: Candidate, op: Op): Candidate[] {
  const left = (world: World): World => perform(world, op)[0]?.world ?? world;
  const found = [mapped(one, left)];
  for (let seen: Candidate | null = one; seen !== null; seen = seen.from) {
    const stays = new Set(left(seen.world));
    const gone = new Set(seen.world.filter((memo) => !stays.has(memo)).map(({ birth }) => birth));
    found.push(mapped(one, (world) => world.filter(({ birth }) => !gone.has(birth))));
  }
  return found;
}
const forgets = (op: Op): boolean => op.do.startsWith("forget");
const all = (one: Candidate): World => [...one.world, ...(one.from === null ? [] : all(one.from))];

function orders<T>(items: readonly T[]): T[][] {
  const [first, second] = items;
  return first !== undefined && second !== undefined
    ? [
        [first, second],
        [second, first],
      ]
    : [[...items]];
}

/** A memory as it looks from outside. */
export const face = ({ text, tags }: Pick<Shown, "text" | "tags">): string => `${text} [${tags.join(" ")}]`;
export const faces = (shown: readonly Pick<Shown, "text" | "tags">[]): string[] => shown.map(face).toSorted();
export const active = (world: World): World => world.filter((memo) => said(memo).status === "active");

const same = (world: World, shown: readonly Shown[]): boolean =>
  JSON.stringify(faces(active(world).map(said))) === JSON.stringify(faces(shown));

/** Candidates that differ in nothing but who brought them about are one. */
function distinct(candidates: readonly Candidate[]): Candidate[] {
  const known = new Map<string, Candidate>();
  for (const one of candidates) {
    const key = keyOf(one);
    if (!known.has(key)) known.set(key, one);
  }
  return [...known.values()];
}

const keyOf = (one: Candidate): string =>
  `${JSON.stringify(one.world.map(({ name, versions }) => [name, versions]))} ${one.from === null ? "" : keyOf(one.from)}`;
