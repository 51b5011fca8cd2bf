import { expect, it } from "vitest";
import { call, newUser } from "../../call.ts";

const fact = (predicate: string, object: string) => ({ subject: "user", predicate, object });
const remember = (user: string, json: object, headers = {}) =>
  call(`/v1/users/${user}/memories`, { json, headers });

it("the answer of a write names the object before, and the opposite, that it ended", async () => {
  const user = newUser();
  const { body: porto } = await remember(user, fact("lives in", "Porto"));
  expect(porto).not.toHaveProperty("superseded");
  const { body: lisbon } = await remember(user, fact("lives in", "Lisbon"));
  expect(lisbon.superseded).toEqual([{ id: porto.id, text: "user lives in Porto" }]);
  const { body: liked } = await remember(user, fact("likes", "olives"));
  const { body: disliked } = await remember(user, fact("dislikes", "olives"));
  expect(disliked.superseded).toEqual([{ id: liked.id, text: "user likes olives" }]);
  const { body: keyed } = await remember(user, { key: "plan", text: "Basic" });
  expect((await remember(user, { key: "plan", text: "Team" })).body.superseded).toEqual([
    { id: keyed.id, text: "Basic" },
  ]);
});

it("no write that ends nothing names anything", async () => {
  const user = newUser();
  for (const json of [
    fact("lives in", "Porto"),
    fact("lives in", "PORTO"),
    fact("likes", "tea"),
    fact("likes", "coffee"),
    { kind: "procedure", title: "deploy", text: "push" },
    { kind: "procedure", title: "deploy", text: "pull" },
  ])
    expect((await remember(user, json)).body).not.toHaveProperty("superseded");
});

it("a batch says it of each memory", async () => {
  const user = newUser();
  const { body: porto } = await remember(user, fact("lives in", "Porto"));
  const memories = [fact("likes", "tea"), fact("lives in", "Lisbon"), fact("hates", "tea")];
  const { items } = (await call(`/v1/users/${user}/memories/batch`, { json: { memories } })).body;
  expect(items.map(({ superseded }: { superseded?: object[] }) => superseded)).toEqual([
    undefined,
    [{ id: porto.id, text: "user lives in Porto" }],
    [{ id: items[0].memory.id, text: "user likes tea" }],
  ]);
});

it("a memory that waits says why, and ends nothing", async () => {
  const user = newUser();
  const { body: porto } = await remember(user, fact("lives in", "Porto"));
  const { body } = await remember(user, fact("lives in", "Lisbon"), { "Cairn-Trust": "model" });
  expect(body).toMatchObject({
    status: "quarantined",
    reasons: ["conflicts_with_higher_trust"],
    conflictsWith: porto.id,
  });
  expect(body).not.toHaveProperty("superseded");
});

it("a repeated request has the same answer, without what was forgotten since", async () => {
  const user = newUser();
  const { body: liked } = await remember(user, fact("likes", "olives"));
  const again = () => remember(user, fact("dislikes", "olives"), { "Idempotency-Key": "k" });
  const { body: first } = await again();
  expect(first.superseded).toEqual([{ id: liked.id, text: "user likes olives" }]);
  expect((await again()).body).toEqual(first);
  await call(`/v1/users/${user}/memories/${liked.id}`, { method: "DELETE" });
  const { superseded: _gone, ...rest } = first;
  expect((await again()).body).toEqual(rest);
});

const change = (user: string, id: string, json: object, more: object = {}) =>
  call(`/v1/users/${user}/memories/${id}`, { method: "PATCH", json, ...more });
const restoreTo = (user: string, id: string, version: number) =>
  call(`/v1/users/${user}/memories/${id}/restore`, { json: { version } });
const live = async (user: string): Promise<string[]> =>
  (await call(`/v1/users/${user}/memories?order=asc`)).body.items.map(({ text }: { text: string }) => text);

it("a corrected fact ends its opposite from then on, and says so, also when the request is repeated", async () => {
  const user = newUser();
  const { body: disliked } = await remember(user, fact("dislikes", "peas"));
  const { body: liked } = await remember(user, fact("likes", "olives"));
  const correct = () =>
    change(user, liked.id, { object: "peas" }, { headers: { "Idempotency-Key": "peas" } });
  const { status, body } = await correct();
  expect([status, body.text]).toEqual([200, "user likes peas"]);
  expect(body.superseded).toEqual([{ id: disliked.id, text: "user dislikes peas" }]);
  expect(await live(user)).toEqual(["user likes peas"]);
  expect((await correct()).body).toEqual(body);
  const { items } = (await call(`/v1/users/${user}/memories/${disliked.id}/history`)).body;
  expect(items[0].validTo).toBe(body.recordedAt);
});

it("a fact that goes on again ends its opposite: by a restored version, and by an end that is removed", async () => {
  const user = newUser();
  const { body: liked } = await remember(user, fact("likes", "peas"));
  const { body: disliked } = await remember(user, fact("dislikes", "peas"));
  const restored = await restoreTo(user, liked.id, liked.version);
  expect(restored.body.superseded).toEqual([{ id: disliked.id, text: "user dislikes peas" }]);
  expect(await live(user)).toEqual(["user likes peas"]);
  const { body } = await change(user, disliked.id, { validTo: null });
  expect(body.superseded).toEqual([{ id: liked.id, text: "user likes peas" }]);
  expect(await live(user)).toEqual(["user dislikes peas"]);
});

it("a correction that makes no fact true ends nothing", async () => {
  const user = newUser();
  const { body: disliked } = await remember(user, fact("dislikes", "peas"));
  const { body: over } = await remember(user, { ...fact("likes", "olives"), validFrom: 1000, validTo: 2000 });
  const { body: waiting } = await remember(user, { ...fact("likes", "beans"), status: "quarantined" });
  const { body: ahead } = await remember(user, {
    ...fact("likes", "rice"),
    validFrom: disliked.recordedAt * 2,
  });
  for (const { id } of [over, waiting])
    expect((await change(user, id, { object: "peas" })).body).not.toHaveProperty("superseded");
  expect((await change(user, disliked.id, { tags: ["food"] })).body).not.toHaveProperty("superseded");
  expect(await live(user)).toEqual(["user dislikes peas"]);
  // One that begins later ends it then.
  const { body } = await change(user, ahead.id, { object: "peas" });
  expect(body.superseded).toEqual([{ id: disliked.id, text: "user dislikes peas" }]);
  expect(await live(user)).toEqual(["user dislikes peas"]);
});

it("a corrected fact ends where its next opposite begins", async () => {
  const user = newUser();
  const { body: liked } = await remember(user, fact("likes", "olives"));
  const { body: ahead } = await remember(user, {
    ...fact("dislikes", "peas"),
    validFrom: liked.recordedAt * 2,
  });
  const { body } = await change(user, liked.id, { object: "peas" });
  expect([body.validTo, body.superseded]).toEqual([ahead.validFrom, undefined]);
});

it("a correction does not end an opposite of a higher trust, nor of a predicate that refuses it", async () => {
  const user = newUser();
  const { body: disliked } = await remember(user, fact("dislikes", "peas"));
  const asModel = { headers: { "Cairn-Trust": "model" } };
  const { body: liked } = await remember(user, fact("likes", "olives"), asModel.headers);
  const low = await change(user, liked.id, { object: "peas" }, asModel);
  expect([low.status, low.body.error.code]).toEqual([403, "trust_too_low"]);
  expect(low.body.error.details[0].path).toBe("body.object");
  expect(low.body.error.details[0].message).toContain(disliked.id);
  expect(await live(user)).toEqual(["user dislikes peas", "user likes olives"]);
  const wears = `wears ${crypto.randomUUID()}`;
  const rule = (json: object) => call(`/v1/predicates/${encodeURIComponent(wears)}`, json);
  await rule({ method: "PUT", json: { policy: "reject" } });
  await remember(user, fact(`no longer ${wears}`, "a hat"));
  const { body: worn } = await remember(user, fact(wears, "a cap"));
  const refused = await change(user, worn.id, { object: "a hat" });
  expect([refused.status, refused.body.error.code]).toEqual([409, "fact_conflict"]);
  await rule({ method: "PUT", json: { policy: "keepAll" } });
  expect((await change(user, worn.id, { object: "a hat" })).status).toBe(200);
  expect(await live(user)).toHaveLength(4);
  await rule({ method: "DELETE" });
});

it("a corrected fact of one ends nothing: its wrong object was true of no time", async () => {
  const user = newUser();
  const { body: porto } = await remember(user, fact("lives in", "Porto"));
  expect((await change(user, porto.id, { object: "Braga" })).body).not.toHaveProperty("superseded");
  const { items } = (await call(`/v1/users/${user}/memories/${porto.id}/history`)).body;
  expect(items[1]).toMatchObject({ object: "Porto", correctedAt: expect.any(Number) });
});
