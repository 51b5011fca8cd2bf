// The filter of metadata: what fits it in D1 (list) and in the user's object (forget), and what is refused.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import { type Answer, call, newUser } from "../../call.ts";
import { forgetWhere, listed, listTexts, recall, remembered, rememberMany } from "../../memory-calls.ts";

type Fields = Record<string, unknown>;
const bytes = (text: string) => new TextEncoder().encode(text);

/** The order of SQLite: numbers among themselves, texts by their bytes. */
function compare(a: unknown, b: unknown): number | null {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== "string" || typeof b !== "string") return null;
  const [x, y] = [bytes(a), bytes(b)];
  const i = x.findIndex((byte, at) => byte !== y[at]);
  return i === -1 ? x.length - y.length : (x[i] ?? 0) - (y[i] ?? -1);
}
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const ordered = (holds: (order: number) => boolean) => (a: unknown, b: unknown) => {
  const order = compare(a, b);
  return order !== null && holds(order);
};
const among = (a: unknown, b: unknown) => (b as unknown[]).some((one) => same(a, one));
const comparisons: Record<string, (own: unknown, wanted: unknown) => boolean> = {
  eq: same,
  ne: (a, b) => !same(a, b),
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0),
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
  in: among,
  nin: (a, b) => !among(a, b),
  exists: (a, b) => (a !== undefined) === b,
};
/** The filter as one would write it down in JavaScript. */
const fits = (metadata: Fields, filter: Fields): boolean =>
  Object.entries(filter).every(([name, wanted]) => {
    if (name === "and") return (wanted as Fields[]).every((one) => fits(metadata, one));
    if (name === "or") return (wanted as Fields[]).some((one) => fits(metadata, one));
    if (name === "not") return !fits(metadata, wanted as Fields);
    const own = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    const keys = typeof wanted === "object" && wanted !== null ? Object.keys(wanted) : [];
    if (keys.length === 0 || !keys.every((key) => key in comparisons)) return same(own, wanted);
    return Object.entries(wanted as Fields).every(([key, operand]) => comparisons[key]?.(own, operand));
  });

const field = fc.constantFrom("n", "a.b", 'quo"te', "' OR 1=1 --", "$", "ключ");
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, "", "1", "a", "b", "B", "\u{10000}", "\uffff", "a\u0000"),
  fc.constantFrom<unknown>(0, 1, -1, 1.5, 2, 10, 1e21, 9_007_199_254_740_991),
);
const value = fc.oneof(
  { weight: 5, arbitrary: scalar },
  fc.array(scalar, { maxLength: 2 }),
  fc.constantFrom<unknown>({}, { x: 1 }, { x: { y: [1] } }),
);
const orderable = scalar.filter((one) => typeof one === "number" || typeof one === "string");
const comparison = fc.oneof(
  fc.record({ gte: orderable, lt: orderable }),
  ...["gt", "gte", "lt", "lte"].map((name) => orderable.map((operand) => ({ [name]: operand }))),
  ...["eq", "ne"].map((name) => value.map((operand) => ({ [name]: operand }))),
  ...["in", "nin"].map((name) =>
    fc.array(value, { minLength: 1, maxLength: 3 }).map((operand) => ({ [name]: operand })),
  ),
  fc.boolean().map((exists) => ({ exists })),
);
const { filter: anyFilter } = fc.letrec<{ filter: Fields }>((tie) => {
  const fields = fc.dictionary(field, fc.oneof(value, comparison), { minKeys: 1, maxKeys: 2 });
  const filters = fc.array(tie("filter"), { minLength: 1, maxLength: 2 });
  return {
    filter: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fields,
      filters.map((and) => ({ and })),
      filters.map((or) => ({ or })),
      tie("filter").map((not) => ({ not })),
    ),
  };
});

const asked = (filter: unknown) => `metadata=${encodeURIComponent(JSON.stringify(filter))}`;
const ids = (items: { id: string }[]) => items.map(({ id }) => id).toSorted();

it("means the same memories in D1, in the user's object and in JavaScript, whatever it and the metadata are", async () => {
  const all = fc.array(fc.dictionary(field, value, { maxKeys: 3 }), { minLength: 6, maxLength: 6 });
  const filters = fc.array(anyFilter, { minLength: 10, maxLength: 10 });
  let found = 0;
  await fc.assert(
    fc.asyncProperty(all, filters, async (metadata, wanted) => {
      const user = newUser();
      const given = [{ text: "none" }, ...metadata.map((one, i) => ({ text: `${i}`, metadata: one }))];
      const { items } = (await rememberMany(user, given)).body;
      for (const filter of wanted) {
        const expected = ids(
          items
            .map(({ memory }: { memory: { id: string; metadata?: Fields } }) => memory)
            .filter((memory: { metadata?: Fields }) => fits(memory.metadata ?? {}, filter)),
        );
        found += expected.length;
        const text = JSON.stringify(filter);
        expect(ids((await listed(user, asked(filter))).body.items), text).toEqual(expected);
        const dry = await forgetWhere(user, { metadata: filter }, { dryRun: true });
        expect(dry.body.ids.toSorted(), text).toEqual(expected);
      }
    }),
    { numRuns: 4 },
  );
  expect(found).toBeGreaterThan(0);
});

it("narrows a recall by a range", async () => {
  const user = newUser();
  await rememberMany(
    user,
    [1, 3, "4"].map((n) => ({ text: `walk ${n}`, metadata: { n } })),
  );
  const hits = await recall(user, { query: "walk", filter: { metadata: { n: { gte: 3 } } } });
  expect(hits.map(({ text }) => text)).toEqual(["walk 3"]);
});

it.each([
  [{}, ""],
  [{ n: { gte: 3, x: 1 } }, ".n.x"],
  [{ n: { $gte: 3 } }, ".n.$gte"],
  [{ n: { not: { gte: 3 } } }, ".n.not"],
  [{ n: { or: [{ gte: 3 }] } }, ".n.or"],
  [{ n: { gt: null } }, ".n.gt"],
  [{ n: { lte: [1] } }, ".n.lte"],
  [{ n: { in: 3 } }, ".n.in"],
  [{ n: { nin: [] } }, ".n.nin"],
  [{ n: { exists: 1 } }, ".n.exists"],
  [{ or: [{ n: 1 }, { n: { gte: {} } }] }, ".or[1].n.gte"],
  [{ and: [{}] }, ".and[0]"],
  [{ not: {} }, ".not"],
])("refuses %j, and says where", async (filter, path) => {
  const user = newUser();
  const answers = [
    [await listed(user, asked(filter)), "query.metadata"],
    [await forgetWhere(user, { metadata: filter }), "body.filter.metadata"],
  ] as const;
  for (const [{ status, body }, where] of answers) {
    expect(status).toBe(400);
    expect(body.error.details.map((one: { path: string }) => one.path)).toContain(where + path);
  }
});

it("takes 32 conditions, 5 levels deep, beside every other field, in D1 and in the object, and not one more", async () => {
  const user = newUser();
  const names = ["subject", "predicate", "key", "title", "sourceEntity", "context", "sourceThread"];
  const others = Object.fromEntries([...names, "sourceMessage", "extractor"].map((name) => [name, "x"]));
  const ranges = ["score", "importance", "intensity", "valence", "createdAt", "updatedAt", "validFrom"];
  const ends = Object.fromEntries(
    ranges.flatMap((name) => [
      [`${name}Min`, 0],
      [`${name}Max`, 1],
    ]),
  );
  const lists = { scope: ["x"], externalId: ["x"], type: ["x"], tags: ["x"], status: ["active"] };
  const holding = (count: number) => ({
    or: Array.from({ length: count - 1 }, (_, i) => ({ [`f${i}`]: { gt: i } })),
  });
  const nested = (levels: number): Fields => (levels === 1 ? { n: 1 } : { not: nested(levels - 1) });
  const ask = async (metadata: Fields) => {
    const filter = { ...others, ...ends, ...lists, metadata };
    const query = new URLSearchParams({ ...others, tag: "x", scope: "x", externalId: "x", type: "x" });
    for (const [name, end] of Object.entries(ends)) query.set(name, String(end));
    query.set("metadata", JSON.stringify(metadata));
    return [
      await call(`/v1/users/${user}/memories?${query.toString()}&anyTag=x&kind=fact&asOf=1&validAt=1`),
      await forgetWhere(user, { ...filter, kinds: ["fact"], anyTags: ["x"] }, { dryRun: true }),
      await call(`/v1/users/${user}/recall`, {
        json: { query: "x", asOf: 1, validAt: 1, filter: { ...filter, status: undefined, anyTags: ["x"] } },
      }),
    ];
  };
  for (const most of [holding(limits.filterConditions), nested(limits.filterDepth)])
    expect((await ask(most)).map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const more of [holding(limits.filterConditions + 1), nested(limits.filterDepth + 1)])
    for (const { status, body } of await ask(more)) {
      expect(status).toBe(400);
      expect(body.error.code).toBe("limit_exceeded");
    }
});

describe("a number beyond a double", () => {
  const beyond = ["9007199254740993", "1e400", '{"a":[-12345678901234567890]}'];
  const send = (path: string, raw: string, method = "POST") => call(path, { raw, method });
  const isRefused = ({ status, body }: Answer, path: string) => {
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: "invalid_request", details: [{ path }] });
  };

  it("is refused in a filter, so that no other memory is forgotten, listed or recalled by it", async () => {
    const user = newUser();
    await remembered(user, { text: "one", metadata: { n: 9007199254740991 } });
    await remembered(user, { text: "two", metadata: { n: null } });
    const at = `/v1/users/${user}`;
    for (const n of beyond) {
      const filter = `{"metadata":{"or":[{"n":${n}}]}}`;
      isRefused(await send(`${at}/memories/forget`, `{"filter":${filter}}`), "body.filter.metadata");
      isRefused(await send(`${at}/recall`, `{"query":"one","filter":${filter}}`), "body.filter.metadata");
      const wanted = encodeURIComponent(`{"n":{"eq":${n}}}`);
      isRefused(await call(`${at}/memories?metadata=${wanted}`), "query.metadata");
    }
    expect(await listTexts(user)).toEqual(["one", "two"]);
  });

  it("is refused in a memory's metadata, and taken in its other fields", async () => {
    const user = newUser();
    const at = `/v1/users/${user}/memories`;
    const { id } = await remembered(user, { text: "there" });
    for (const n of beyond) {
      const memory = `{"text":"new","metadata":{"n":${n}}}`;
      isRefused(await send(at, memory), "body.metadata");
      const many = `{"memories":[{"text":"9007199254740993"},${memory}]}`;
      isRefused(await send(`${at}/batch`, many), "body.memories[1].metadata");
      isRefused(await send(`${at}/${id}`, `{"metadata":{"n":${n}}}`, "PATCH"), "body.metadata");
    }
    expect(await listTexts(user)).toEqual(["there"]);
    const exact = '{"text":"1e400","metadata":{"n":9007199254740991,"id":"9007199254740993"}}';
    expect((await send(at, exact)).body.metadata).toEqual(JSON.parse(exact).metadata);
  });
});
