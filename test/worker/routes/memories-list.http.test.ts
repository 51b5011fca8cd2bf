// Filters, order and pages of lists; the same filters in recall and forget.
import { beforeAll, describe, expect, it } from "vitest";
import { newUser } from "../../call.ts";
import {
  forgetWhere,
  list,
  listed,
  listTexts,
  pages,
  patch,
  recallTexts,
  remembered,
  rememberMany,
} from "../../memory-calls.ts";

const T = 1_780_000_000_000;

/** Memories that each filter divides. */
const all = [
  {
    text: "red",
    tags: ["a", "b"],
    scope: "one",
    score: 0.2,
    importance: 0.1,
    metadata: { n: 1, s: "x", nested: { y: [1] } },
    source: { thread: "t1", message: 7, extractor: "gpt" },
    status: "active",
    createdAt: T,
    updatedAt: T + 5,
  },
  {
    text: "green",
    tags: ["b", "c"],
    scope: "two",
    score: 0.5,
    metadata: { n: "1", s: "x", none: null, yes: true },
    source: { thread: "t1", message: "m-7" },
    createdAt: T + 10,
    validFrom: T + 11,
  },
  { text: "Ann has a dog", subject: "Ann", predicate: "has", object: "a dog", score: 0.8, createdAt: T + 20 },
  { text: "blue", key: "Colour", externalId: "e1", importance: 0.9, createdAt: T + 30 },
  {
    kind: "episode",
    text: "lunch",
    type: "meal",
    context: "In the Kitchen, at noon",
    sourceEntity: "bob",
    intensity: 0.4,
    emotion: { valence: -0.5, arousal: 0, dominance: 0 },
    createdAt: T + 40,
  },
  {
    kind: "reflection",
    text: "thought",
    trigger: "lunch went well",
    sourceEntity: "bob",
    emotion: { valence: 0.5, arousal: 0, dominance: 0 },
    createdAt: T + 50,
  },
  { kind: "procedure", text: "steps", title: "Deploy", externalId: "e2", createdAt: T + 60 },
] as const;

const cases: [query: string, filter: object, texts: string][] = [
  ["kind=fact", { kinds: ["fact"] }, "Ann has a dog,blue,green,red"],
  ["kind=episode&kind=reflection", { kinds: ["episode", "reflection"] }, "lunch,thought"],
  ["tag=b", { tags: ["b"] }, "green,red"],
  ["tag=a&tag=b", { tags: ["a", "b"] }, "red"],
  ["tag=a&tag=c", { tags: ["a", "c"] }, ""],
  ["anyTag=a&anyTag=c", { anyTags: ["a", "c"] }, "green,red"],
  ["tag=b&anyTag=c&anyTag=z", { tags: ["b"], anyTags: ["c", "z"] }, "green"],
  ["scope=one&scope=two", { scope: ["one", "two"] }, "green,red"],
  ["scope=three", { scope: ["three"] }, ""],
  ["subject=%20ANN", { subject: " ANN" }, "Ann has a dog"],
  ["subject=ann&predicate=Has", { subject: "ann", predicate: "Has" }, "Ann has a dog"],
  ["predicate=likes", { predicate: "likes" }, ""],
  ["key=colour", { key: "colour" }, "blue"],
  ["title=Deploy", { title: "Deploy" }, "steps"],
  ["title=deploy", { title: "deploy" }, ""],
  ["externalId=e1&externalId=e2&externalId=e3", { externalId: ["e1", "e2", "e3"] }, "blue,steps"],
  ["type=meal&type=walk", { type: ["meal", "walk"] }, "lunch"],
  ["sourceEntity=bob", { sourceEntity: "bob" }, "lunch,thought"],
  ["context=the%20kitchen", { context: "the kitchen" }, "lunch"],
  ["context=%25", { context: "%" }, ""],
  ["sourceThread=t1", { sourceThread: "t1" }, "green,red"],
  ["sourceMessage=7", { sourceMessage: "7" }, "red"],
  ["sourceMessage=m-7", { sourceMessage: "m-7" }, "green"],
  ["extractor=gpt", { extractor: "gpt" }, "red"],
  ["scoreMin=0.2&scoreMax=0.5", { scoreMin: 0.2, scoreMax: 0.5 }, "green,red"],
  ["scoreMin=0.51", { scoreMin: 0.51 }, "Ann has a dog"],
  ["importanceMax=0.1", { importanceMax: 0.1 }, "red"],
  ["intensityMin=0.4&intensityMax=0.4", { intensityMin: 0.4, intensityMax: 0.4 }, "lunch"],
  ["valenceMin=-0.5&valenceMax=0.5", { valenceMin: -0.5, valenceMax: 0.5 }, "lunch,thought"],
  ["valenceMin=-0.4", { valenceMin: -0.4 }, "thought"],
  [
    `createdAtMin=${T + 20}&createdAtMax=${T + 40}`,
    { createdAtMin: T + 20, createdAtMax: T + 40 },
    "Ann has a dog,blue,lunch",
  ],
  [`updatedAtMax=${T + 5}`, { updatedAtMax: T + 5 }, "red"],
  [`validFromMin=${T + 11}&validFromMax=${T + 11}`, { validFromMin: T + 11, validFromMax: T + 11 }, "green"],
  ["metadata=%7B%22n%22%3A1%7D", { metadata: { n: 1 } }, "red"],
  ["metadata=%7B%22n%22%3A%221%22%7D", { metadata: { n: "1" } }, "green"],
  ["metadata=%7B%22s%22%3A%22x%22%2C%22n%22%3A1%7D", { metadata: { s: "x", n: 1 } }, "red"],
  ["metadata=%7B%22none%22%3Anull%7D", { metadata: { none: null } }, "green"],
  ["metadata=%7B%22yes%22%3Atrue%7D", { metadata: { yes: true } }, "green"],
  ["metadata=%7B%22yes%22%3A1%7D", { metadata: { yes: 1 } }, ""],
  ["metadata=%7B%22nested%22%3A%7B%22y%22%3A%5B1%5D%7D%7D", { metadata: { nested: { y: [1] } } }, "red"],
  ["metadata=%7B%22nested%22%3A%7B%22y%22%3A%5B2%5D%7D%7D", { metadata: { nested: { y: [2] } } }, ""],
  ["kind=fact&scoreMin=0.5&tag=b", { kinds: ["fact"], scoreMin: 0.5, tags: ["b"] }, "green"],
];

describe("a filter", () => {
  const user = newUser();
  beforeAll(async () => {
    for (const memory of all) await remembered(user, memory);
  });

  it.each(cases)("%s", async (query, filter, texts) => {
    expect((await listTexts(user, query)).join(",")).toBe(texts);
    const { kinds, ...rest } = filter as { kinds?: string[] };
    // A query without a word finds all that the filter lets pass.
    const asked = { query: "???", k: 100, filter: rest, ...(kinds && { kinds }) };
    expect((await recallTexts(user, asked)).join(",")).toBe(texts);
    const dry = await forgetWhere(user, filter, { dryRun: true });
    expect(dry.body.count).toBe(texts === "" ? 0 : texts.split(",").length);
  });

  it.each([
    ["kind=facts", "query.kind[0]"],
    ["scoreMin=much", "query.scoreMin"],
    ["scoreMin=", "query.scoreMin"],
    ["metadata=%7B", "query.metadata"],
    ["metadata=%5B%5D", "query.metadata"],
    ["metadata=%7B%7D", "query.metadata"],
    ["asOf=yesterday", "query.asOf"],
    ["asOf=1.5", "query.asOf"],
    ["subject=a&subject=b", "query.subject"],
    ["sort=text", "query.sort"],
    ["tag=", "query.tag[0]"],
    ["scope=", "query.scope[0]"],
    ["kinds=fact", "query.kinds"],
    [Array.from({ length: 33 }, (_, i) => `tag=t${i}`).join("&"), "query.tag"],
    [Array.from({ length: 1001 }, (_, i) => `scope=${i}`).join("&"), "query.scope"],
  ])("refuses %s and names the parameter", async (query, path) => {
    const { status, body } = await listed(user, query);
    expect(status).toBe(400);
    expect(body.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  it("takes 1,000 values", async () => {
    const many = Array.from({ length: 998 }, (_, i) => `scope ${i}`);
    expect(await recallTexts(user, { query: "???", filter: { scope: ["one", "two", ...many] } })).toEqual([
      "green",
      "red",
    ]);
    const query = ["one", "two", ...many].map((scope) => `scope=${encodeURIComponent(scope)}`).join("&");
    expect(await listTexts(user, query)).toEqual(["green", "red"]);
  });

  it("of recall narrows by its tags and scope as well", async () => {
    const asked = { query: "???", filter: { anyTags: ["a", "c"] } };
    expect(await recallTexts(user, { ...asked, tags: ["a"] })).toEqual(["red"]);
    expect(await recallTexts(user, { ...asked, scope: "two" })).toEqual(["green"]);
    expect(await recallTexts(user, { ...asked, filter: { scope: ["one"] }, scope: "two" })).toEqual([]);
    expect(await recallTexts(user, { query: "???", tags: [], k: 100 })).toHaveLength(all.length);
  });
});

describe.each(["createdAt", "updatedAt", "validFrom", "score", "importance"])("sorted by %s", (sort) => {
  it.each(["asc", "desc"])("%s, its pages are complete, with what has none as the least", async (order) => {
    const user = newUser();
    const memories = Array.from({ length: 11 }, (_, i) => ({
      text: `memory ${i}`,
      dedupe: "none",
      createdAt: T + (i % 4),
      updatedAt: T + 10 + (i % 3),
      validFrom: T + (i % 5),
      ...(i % 3 > 0 && { score: (i % 3) / 4, importance: (i % 4) / 4 }),
    }));
    await rememberMany(user, memories);
    const found = await pages(user, `limit=3&sort=${sort}&order=${order}`);
    expect(new Set(found.map(({ id }) => id)).size).toBe(11);
    const keys = found.map((memory) => Number(memory[sort] ?? -1));
    expect(keys).toEqual(keys.toSorted((a, b) => (order === "asc" ? a - b : b - a)));
  });
});

describe("pages", () => {
  it("keep the order of a batch, which has one time", async () => {
    const user = newUser();
    const memories = Array.from({ length: 9 }, (_, i) => ({ text: `memory ${i}` }));
    await rememberMany(user, memories);
    const found = await pages(user, "limit=2&order=asc");
    expect(found.map(({ text }) => text)).toEqual(memories.map(({ text }) => text));
  });

  it.each(["asc", "desc"])(
    "%s miss nothing and repeat nothing while memories are corrected, superseded and made",
    async (order) => {
      const user = newUser();
      const memories = Array.from({ length: 12 }, (_, i) => ({
        subject: `s${i}`,
        predicate: "p",
        object: "o",
      }));
      await rememberMany(user, memories);
      const begun = await list(user);
      const found = await pages(user, `limit=2&order=${order}`, async (page) => {
        const [one, other] = [begun[page % 12], begun[(23 - page) % 12]];
        await patch(user, one?.id ?? "", { score: page / 10 });
        await remembered(user, { subject: other?.subject, predicate: "p", object: `o${page}` });
        if (page < 3) await remembered(user, { text: `new ${page}` });
      });
      const ids = found.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(expect.arrayContaining(begun.map(({ id }) => id)));
    },
  );

  it("go on only as they began", async () => {
    const user = newUser();
    await rememberMany(user, [{ text: "a" }, { text: "b" }]);
    const { cursor } = (await listed(user, "limit=1")).body;
    for (const query of [`cursor=${cursor}&order=asc`, `cursor=${cursor}&sort=score`, "cursor=x"])
      expect((await listed(user, query)).body.error.code).toBe("invalid_cursor");
  });

  it("of long memories are shorter, and complete", async () => {
    const user = newUser();
    const long = { kind: "episode", context: "x".repeat(32_000), metadata: { a: "x".repeat(10_000) } };
    const memories = Array.from({ length: 240 }, (_, i) => ({ ...long, text: `memory ${i}` }));
    expect((await rememberMany(user, memories)).status).toBe(200);
    const first = (await listed(user, "limit=1000")).body;
    expect(first.items.length).toBeLessThan(240);
    expect(first.cursor).toBeDefined();
    expect(new Set((await pages(user, "limit=1000")).map(({ id }) => id)).size).toBe(240);
  });
});
