// A user's memories after each operation, in the plainest way: no storage, no faults, no time but expiry.

/** The statement of one version of a memory. */
export type Said = {
  text: string;
  /** The parts of a triple. */
  object: string | null;
  tags: readonly string[];
  status: "active" | "quarantined";
  expiresAt: number | null;
};
/** A memory, by the name that makes it one with others, if it has any; its last version is what it says. */
export type Memo = {
  /** Tells a memory from one of the same name that was forgotten before it. */
  birth: string;
  name: string | null;
  versions: readonly Said[];
};
export type World = readonly Memo[];

export type Body = Said & {
  name: string | null;
  /** The effect of the same name again: a fact that changes, a procedure that is replaced, a text that is there already. */
  how: "supersede" | "replace" | "merge" | "none";
};
export type Op =
  /** `once`: with an idempotency key, by which these memories were born before. */
  | { do: "remember"; bodies: readonly Body[]; birth: string; once?: readonly string[] }
  | { do: "patch"; birth: string; changes: Partial<Pick<Said, "text" | "object" | "tags" | "expiresAt">> }
  | { do: "restore"; birth: string; version: number; now: number }
  | { do: "release"; birth: string }
  | { do: "forget"; birth: string }
  | { do: "forgetTag"; tag: string }
  | { do: "forgetAll" }
  | { do: "forgetUser" };
/** The outcome of an operation in a world: the status of its answer, and the memories that it tells of. */
export type Outcome = { world: World; status: number; births: readonly string[] };

export const said = (memo: Memo): Said => {
  const last = memo.versions.at(-1);
  if (last === undefined) throw new Error("a memory that says nothing");
  return last;
};
export const triple = (subject: string, object: string): string => `${subject} lives in ${object}`;

/** All that may come of it: more than one outcome where the order of equals is not promised. */
export function perform(world: World, op: Op): Outcome[] {
  switch (op.do) {
    case "remember":
      return rememberAll(world, op);
    case "forget":
      return [done(without(world, op.birth), find(world, op.birth) === undefined ? 404 : 204)];
    case "forgetTag":
      return [
        done(
          world.filter((memo) => !said(memo).tags.includes(op.tag)),
          200,
        ),
      ];
    case "forgetAll":
      return [done([], 204)];
    case "forgetUser":
      return [done([], 202)];
    default: {
      const memo = find(world, op.birth);
      return memo === undefined ? [done(world, 404)] : change(world, memo, op);
    }
  }
}

export const without = (world: World, birth: string): World => world.filter((memo) => memo.birth !== birth);
export const find = (world: World, birth: string): Memo | undefined =>
  world.find((memo) => memo.birth === birth);
export const unexpired = (world: World, now: number): World =>
  world.filter((memo) => (said(memo).expiresAt ?? now) >= now);

const done = (world: World, status: number, births: readonly string[] = []): Outcome => ({
  world,
  status,
  births,
});

function rememberAll(world: World, { bodies, birth, once = [] }: Op & { do: "remember" }): Outcome[] {
  // The same request again is answered as before, as long as what it made is there.
  const known = once.find((one) => find(world, one) !== undefined);
  if (known !== undefined) return [done(world, 201, [known])];
  let outcomes = [{ ...done(world, 200), created: false }];
  for (const [i, body] of bodies.entries())
    outcomes = outcomes.flatMap((before) =>
      rememberOne(before.world, body, `${birth}.${i}`).map((after) => ({
        ...after,
        births: [...before.births, ...after.births],
      })),
    );
  // A batch answers 200, whatever it made.
  return outcomes.map(({ created, ...outcome }) => ({
    ...outcome,
    status: created && bodies.length === 1 ? 201 : 200,
  }));
}

function rememberOne(
  world: World,
  { name, how, ...body }: Body,
  birth: string,
): (Outcome & { created: boolean })[] {
  const named = name !== null && world.find((memo) => memo.name === name);
  const alike =
    name === null && how === "merge"
      ? world.filter((memo) => said(memo).status === "active" && said(memo).text === body.text)
      : [];
  const known = named ? [named] : alike;
  if (known.length === 0)
    return [
      {
        ...done([...world, { birth, name: name ?? null, versions: [body] }], 201, [birth]),
        created: true,
      },
    ];
  return known.map((memo) => {
    const now = said(memo);
    const same = body.object === null ? now.text === body.text : now.object === body.object;
    const next = how === "replace" || (how === "supersede" && !same) ? body : merged(now, body);
    return { ...done(put(world, memo, next), 200, [memo.birth]), created: false };
  });
}

function change(world: World, memo: Memo, op: Op & { do: "patch" | "restore" | "release" }): Outcome[] {
  const now = said(memo);
  if (op.do === "patch") {
    const { object = now.object } = op.changes;
    // The text of a triple goes with its object, unless it has got one of its own.
    const words = (of: string | null) => triple(subjectOf(memo), of ?? "");
    const text = object !== now.object && now.text === words(now.object) ? words(object) : now.text;
    return [done(put(world, memo, { ...now, text, ...op.changes }), 200, [memo.birth])];
  }
  if (op.do === "restore") {
    const past = memo.versions[op.version];
    if (past === undefined) return [done(world, 404)];
    // Its status stays; so does its end, if the one of the version is over.
    const over = past.expiresAt !== null && past.expiresAt < op.now;
    const next = { ...past, status: now.status, expiresAt: over ? now.expiresAt : past.expiresAt };
    return [done(put(world, memo, next), 200, [memo.birth])];
  }
  if (now.status === "active") return [done(world, 200, [memo.birth])];
  const alike = world.filter((other) => said(other).status === "active" && said(other).text === now.text);
  if (alike.length === 0) return [done(put(world, memo, { ...now, status: "active" }), 200, [memo.birth])];
  return alike.flatMap((other) => {
    const next = merged(said(other), now);
    const left = without(world, memo.birth);
    const changed = left.map((one) =>
      one === other ? { ...other, versions: [...other.versions, next] } : one,
    );
    // It notes the id that waited: a version more, unless it was the same one before.
    return [...new Set([put(left, other, next), changed])].map((one) => done(one, 200, [other.birth]));
  });
}

const subjectOf = ({ name }: Memo): string => name?.replace("triple ", "") ?? "";

/** Tags add up, an expiry that is given holds; all else stays. */
const merged = (now: Said, body: Said): Said => ({
  ...now,
  tags: [...new Set([...now.tags, ...body.tags])],
  expiresAt: body.expiresAt ?? now.expiresAt,
});

/** A version more, if it says anything else. */
function put(world: World, memo: Memo, next: Said): World {
  if (JSON.stringify(ordered(said(memo))) === JSON.stringify(ordered(next))) return world;
  const changed = { ...memo, versions: [...memo.versions, next] };
  return world.map((one) => (one === memo ? changed : one));
}

const ordered = ({ text, object, tags, status, expiresAt }: Said) => [text, object, tags, status, expiresAt];
