// Many memories in quarantine are released, or rejected, in one call.
import { afterEach, expect, it } from "vitest";
import { call, newUser, tokenWith } from "../../call.ts";
import { restore } from "../../doubles/control.ts";
import {
  get,
  history,
  list,
  listTexts,
  patch,
  recallTexts,
  release,
  remembered,
  rememberMany,
} from "../../memory-calls.ts";

afterEach(restore);

const review = (user: string, json: object, query = "", more: object = {}) =>
  call(`/v1/users/${user}/memories/review?${query}`, { json, ...more });
const waiting = (text: string, more: object = {}) => ({ text, status: "quarantined", ...more });
const fact = (predicate: string, object: string, more: object = {}) => ({
  subject: "user",
  predicate,
  object,
  ...more,
});
const outcomes = (items: { outcome: string; error?: { code: string } }[]) =>
  items.map(({ outcome, error }) => error?.code ?? outcome);
const fill = async (user: string, count: number, more: (i: number) => object = () => ({})) => {
  const memories = Array.from({ length: count }, (_, i) => waiting(`fact ${i}`, more(i)));
  const ids: string[] = [];
  for (let i = 0; i < count; i += 500) {
    const { items } = (await rememberMany(user, memories.slice(i, i + 500))).body;
    ids.push(...items.map(({ memory }: { memory: { id: string } }) => memory.id));
  }
  return ids;
};

it("releases each as a release of it would, and says what each became and ended", async () => {
  const user = newUser();
  const porto = await remembered(user, fact("lives in", "Porto"));
  const liked = await remembered(user, fact("likes", "olives"));
  const tea = await remembered(user, { text: "I like tea", tags: ["a"] });
  const chosen = [
    await remembered(user, fact("lives in", "Ghent", { status: "quarantined" })),
    await remembered(user, fact("dislikes", "olives", { status: "quarantined" })),
    await remembered(user, waiting("I like tea", { tags: ["b"] })),
    await remembered(user, waiting("I have a cat")),
  ];
  const { status, body } = await review(user, {
    decision: "release",
    memories: chosen.map(({ id }) => ({ id })),
  });
  expect(status).toBe(200);
  expect(body.cursor).toBeUndefined();
  expect(body.items).toEqual([
    {
      id: chosen[0]?.id,
      outcome: "released",
      memoryId: porto.id,
      version: expect.any(Number),
      superseded: [{ id: porto.id, text: "user lives in Porto" }],
    },
    {
      id: chosen[1]?.id,
      outcome: "released",
      memoryId: chosen[1]?.id,
      version: expect.any(Number),
      superseded: [{ id: liked.id, text: "user likes olives" }],
    },
    { id: chosen[2]?.id, outcome: "released", memoryId: tea.id, version: expect.any(Number) },
    { id: chosen[3]?.id, outcome: "released", memoryId: chosen[3]?.id, version: expect.any(Number) },
  ]);
  expect(await listTexts(user)).toEqual([
    "I have a cat",
    "I like tea",
    "user dislikes olives",
    "user lives in Ghent",
  ]);
  expect((await get(user, tea.id)).body.tags).toEqual(["a", "b"]);
  expect(await recallTexts(user, { query: "cat" })).toContain("I have a cat");
  expect(await history(user, porto.id)).toMatchObject([{ object: "Ghent" }, { object: "Porto" }]);
});

it("does the same again without harm", async () => {
  const user = newUser();
  const ids = await fill(user, 3);
  await remembered(user, fact("lives in", "Porto"));
  const lives = await remembered(user, fact("lives in", "Ghent", { status: "quarantined" }));
  const memories = [...ids.slice(0, 2), lives.id].map((id) => ({ id }));
  const first = (await review(user, { decision: "release", memories })).body.items;
  const again = (await review(user, { decision: "release", memories: [...memories, ...memories] })).body
    .items;
  expect(again).toEqual(first.map(({ superseded: _ended, ...rest }: { superseded?: object }) => rest));
  const reject = { decision: "reject", memories: [{ id: ids[2] }] };
  expect(outcomes((await review(user, reject)).body.items)).toEqual(["rejected"]);
  expect(outcomes((await review(user, reject)).body.items)).toEqual(["gone"]);
});

it("rejects what waits and nothing else, and keeps an entry that others name", async () => {
  const user = newUser();
  const live = await remembered(user, { text: "I like tea" });
  const [first = "", released = ""] = await fill(user, 2);
  await release(user, released);
  const became = await remembered(user, fact("lives in", "Ghent", { status: "quarantined" }));
  const { body: ghent } = await release(user, became.id);
  await call(`/v1/users/${user}/kv/note`, { method: "PUT", json: 1 });
  await remembered(user, { text: "a note", metadata: { cairnEntry: "note" } });
  const named = await remembered(user, waiting("another note", { metadata: { cairnEntry: "note" } }));
  const memories = [first, live.id, released, became.id, named.id, "unknown"].map((id) => ({ id }));
  const { items } = (await review(user, { decision: "reject", memories })).body;
  expect(outcomes(items)).toEqual([
    "rejected",
    "not_quarantined",
    "not_quarantined",
    "not_quarantined",
    "rejected",
    "gone",
  ]);
  expect(await listTexts(user)).toEqual(["I like tea", "a note", "fact 1", "user lives in Ghent"]);
  expect((await get(user, ghent.id)).status).toBe(200);
  expect((await get(user, first)).status).toBe(404);
  expect((await call(`/v1/users/${user}/kv/note`)).status).toBe(200);
});

it("keeps what fails as it was, and releases the others", async () => {
  const user = newUser();
  const rule = `wears ${crypto.randomUUID()}`;
  await call(`/v1/predicates/${encodeURIComponent(rule)}`, { method: "PUT", json: { policy: "reject" } });
  await remembered(user, { text: "mine", externalId: "e" });
  await remembered(user, fact(`no longer ${rule}`, "a hat"));
  const chosen = [
    await remembered(user, waiting("one")),
    await remembered(user, fact("lives in", "x", { status: "quarantined", externalId: "e" })),
    await remembered(user, fact(rule, "a hat", { status: "quarantined" })),
    await remembered(user, waiting("changed since")),
    // Of two with one externalId, the second one finds it taken.
    await remembered(user, fact("likes", "tea", { status: "quarantined", externalId: "f" })),
    await remembered(user, fact("likes", "rice", { status: "quarantined", externalId: "f" })),
    await remembered(
      user,
      fact("visited", "Rome", { status: "quarantined", validFrom: 1000, validTo: 2000 }),
    ),
  ];
  const seen = chosen.map(({ id, version }) => ({ id, ifVersion: version }));
  await patch(user, chosen[3]?.id ?? "", { score: 0.5 });
  const { body } = await review(user, { decision: "release", memories: [...seen, { id: "unknown" }] });
  expect(outcomes(body.items)).toEqual([
    "released",
    "external_id_taken",
    "fact_conflict",
    "precondition_failed",
    "released",
    "external_id_taken",
    "released",
    "not_found",
  ]);
  expect(body.items[1].error.message).toContain("externalId is the id of");
  for (const at of [1, 2, 3, 5])
    expect((await get(user, chosen[at]?.id ?? "")).body.status).toBe("quarantined");
  expect(await listTexts(user)).toEqual(
    ["mine", `user no longer ${rule} a hat`, "one", "user likes tea"].toSorted(),
  );
  await call(`/v1/predicates/${encodeURIComponent(rule)}`, { method: "DELETE" });
});

it("reviews all that wait by a filter, 500 in a call, and none that came after the first call", async () => {
  const user = newUser();
  await remembered(user, { text: "live" });
  await fill(user, 1_003, (i) => ({ tags: [i % 10 === 0 ? "keep" : "drop"] }));
  const body = { decision: "release", filter: { tags: ["drop"] } };
  const seen: string[] = [];
  let calls = 0;
  for (let cursor: string | undefined = ""; cursor !== undefined; calls++) {
    const answer = await review(user, body, cursor === "" ? "" : `cursor=${cursor}`);
    expect(answer.status).toBe(200);
    seen.push(...answer.body.items.map(({ id }: { id: string }) => id));
    expect(new Set(outcomes(answer.body.items))).toEqual(new Set(["released"]));
    if (calls === 0) await remembered(user, waiting("late", { tags: ["drop"] }));
    cursor = answer.body.cursor;
  }
  expect([calls, seen.length, new Set(seen).size]).toEqual([2, 902, 902]);
  const left = await list(user, "status=quarantined");
  expect(left).toHaveLength(102);
  expect(left.filter(({ tags }) => String(tags) === "drop").map(({ text }) => text)).toEqual(["late"]);
  const rest = await review(user, { decision: "reject", filter: {} });
  expect([rest.body.items.length, rest.body.cursor]).toEqual([102, undefined]);
  expect(await list(user, "status=quarantined")).toEqual([]);
  expect(await list(user)).toHaveLength(903);
});

it("goes past what fails, so that a loop over all ends", async () => {
  const user = newUser();
  await remembered(user, { text: "mine", externalId: "e" });
  await fill(user, 501, (i) =>
    i < 3 ? { text: undefined, ...fact("lives in", `${i}`, { externalId: "e" }) } : {},
  );
  const first = (await review(user, { decision: "release", filter: {} })).body;
  expect(first.items).toHaveLength(500);
  expect(outcomes(first.items).slice(0, 4)).toEqual([
    ...Array.from({ length: 3 }, () => "external_id_taken"),
    "released",
  ]);
  const second = (await review(user, { decision: "release", filter: {} }, `cursor=${first.cursor}`)).body;
  expect([outcomes(second.items), second.cursor]).toEqual([["released"], undefined]);
});

it("is for a person, as a release is, and for the memory of that user alone", async () => {
  const [user, other] = [newUser(), newUser()];
  const [id = ""] = await fill(user, 1);
  const memories = [{ id }];
  const low = await review(user, { decision: "release", memories }, "", {
    headers: { "Cairn-Trust": "model" },
  });
  expect([low.status, low.body.error.code]).toEqual([403, "trust_too_low"]);
  const readOnly = await tokenWith({ user, scope: ["read"] });
  expect((await review(user, { decision: "reject", memories }, "", { token: readOnly })).status).toBe(403);
  expect(
    (await review(user, { decision: "reject", memories }, "", { token: await tokenWith({ user: other }) }))
      .status,
  ).toBe(404);
  expect(outcomes((await review(other, { decision: "reject", memories })).body.items)).toEqual(["gone"]);
  expect(outcomes((await review(other, { decision: "release", memories })).body.items)).toEqual([
    "not_found",
  ]);
  expect((await get(user, id)).body.status).toBe("quarantined");
});

it.each<[string, object, string, string]>([
  ["neither memories nor a filter", {}, "body.memories", "invalid_request"],
  ["no memory", { memories: [] }, "body.memories", "invalid_request"],
  ["an empty id", { memories: [{ id: "" }] }, "body.memories[0].id", "invalid_request"],
  ["memories and a filter", { memories: [{ id: "a" }], filter: {} }, "body.filter", "invalid_request"],
  ["another decision", { decision: "approve", filter: {} }, "body.decision", "invalid_request"],
  ["a status in the filter", { filter: { status: ["active"] } }, "body.filter.status", "invalid_request"],
  [
    "501 memories",
    { memories: Array.from({ length: 501 }, (_, i) => ({ id: `${i}` })) },
    "body.memories",
    "limit_exceeded",
  ],
])("refuses %s", async (_, json, path, code) => {
  const { status, body } = await review(newUser(), { decision: "reject", ...json });
  const [detail] = body.error.details;
  expect([status, detail.path, detail.code ?? body.error.code]).toEqual([400, path, code]);
});

it("takes no cursor of another review", async () => {
  const user = newUser();
  await fill(user, 501);
  const { cursor } = (await review(user, { decision: "reject", filter: { kinds: ["fact"] } })).body;
  for (const json of [
    { decision: "release", filter: { kinds: ["fact"] } },
    { decision: "reject", filter: {} },
  ]) {
    const { status, body } = await review(user, json, `cursor=${cursor}`);
    expect([status, body.error.code]).toEqual([400, "invalid_cursor"]);
  }
});
