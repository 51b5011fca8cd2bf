import fc from "fast-check";

const few = fc.nat(2);
const which = fc.nat(50);
const tag = fc.constantFrom("ta", "tb");
const body = fc.record({
  as: fc.constantFrom("triple", "triple", "key", "procedure", "external", "plain", "review", "reviewed"),
  name: fc.nat(1),
  value: few,
  tag: fc.option(tag, { freq: 1 }),
  /** Minutes to live. */
  expires: fc.option(fc.integer({ min: 1, max: 5 }), { freq: 6, nil: null }),
});
const patch = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ what: "text" as const }) },
  fc.record({ what: fc.constant("tags" as const), tag: fc.option(tag) }),
  fc.record({ what: fc.constant("object" as const), value: few }),
  fc.record({ what: fc.constant("expires" as const), minutes: fc.integer({ min: 1, max: 5 }) }),
);

const write = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("remember" as const), body }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("batch" as const),
      bodies: fc.array(body, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("unique" as const), tag: fc.option(tag) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("again" as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("patch" as const), which, patch }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restore" as const), which, version: which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), which }) },
);
const forgetting = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("forget" as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("forgetTag" as const), tag }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forgetAll" as const) }) },
  /** Everything is erased, with a receipt. */
  { weight: 2, arbitrary: fc.record({ do: fc.constant("forgetUser" as const) }) },
);
const operation = fc.oneof({ weight: 3, arbitrary: write }, { weight: 1, arbitrary: forgetting });
const upkeep = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reindex" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("alarm" as const) }) },
);
export type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
export type Upkeep = typeof upkeep extends fc.Arbitrary<infer T> ? T : never;

const d1 = fc.array(fc.constantFrom("ok", "before", "after", "late", "full", "refused"), {
  minLength: 1,
  maxLength: 3,
});
const vectorize = fc.constantFrom("before", "after", "hang", "hang-after", "late", "twice");
/** The fault while a step is performed. */
const fault = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 5, arbitrary: fc.record({ d1 }) },
  { weight: 1, arbitrary: fc.constant({ d1Reads: true }) },
  { weight: 1, arbitrary: fc.constant({ embedder: true }) },
  { weight: 1, arbitrary: fc.constant({ transactions: 1 }) },
  { weight: 2, arbitrary: fc.record({ vectorize }) },
  { weight: 1, arbitrary: fc.constant({ vectorizeReads: true }) },
);
export type Fault = {
  d1?: ("ok" | "before" | "after" | "late" | "full" | "refused")[];
  d1Reads?: boolean;
  embedder?: boolean;
  transactions?: number;
  vectorize?: "before" | "after" | "hang" | "hang-after" | "late" | "twice";
  vectorizeReads?: boolean;
};

const user = fc.nat(1);
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("perform" as const),
      user,
      op: fc.oneof({ weight: 5, arbitrary: operation }, { weight: 1, arbitrary: upkeep }),
      fault,
    }),
  },
  /** A second operation begins while the first one waits for D1 or for its vector, or a reindex for what D1 has. */
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("meanwhile" as const),
      user,
      first: fc.oneof(
        { weight: 4, arbitrary: write },
        { weight: 1, arbitrary: fc.record({ do: fc.constant("reindex" as const) }) },
      ),
      at: fc.constantFrom("d1", "embedder"),
      /** Both are about the same memory. */
      same: fc.boolean(),
      second: fc.oneof(
        { weight: 3, arbitrary: forgetting },
        { weight: 2, arbitrary: write },
        { weight: 2, arbitrary: upkeep },
      ),
    }),
  },
  /** Forgets, with a fault, the remains of a write with a fault. */
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("open" as const),
      user,
      first: write,
      lost: fc.constantFrom("before", "after", "late"),
      second: forgetting,
      d1,
    }),
  },
  /** A memory takes the place of one that has expired, while the alarm sweeps. */
  { weight: 1, arbitrary: fc.record({ do: fc.constant("renew" as const), user, body }) },
  /** The object dies at a step of an operation. */
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("die" as const),
      user,
      op: fc.oneof({ weight: 3, arbitrary: operation }, { weight: 1, arbitrary: upkeep }),
      at: fc.constantFrom("hang", "hang-after", "hang-late", "embedder", "vectorize"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("evict" as const), user }) },
  /** The object's storage is lost and rebuilt from D1, and it writes again on a machine whose clock is behind. */
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("lose" as const),
      user,
      behind: fc.constantFrom(1, 60_000, 3_600_000),
      first: write,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("land" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("clock" as const),
      ms: fc.constantFrom(-60_000, 1, 1_000, 6_000, 61_000, 200_000, 400_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lag" as const), ms: fc.nat(120_000) }) },
);
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A history of both users. */
export const steps = fc.array(step, { minLength: 6, maxLength: 22, size: "max" });
