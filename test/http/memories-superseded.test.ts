import { expect, it } from "vitest";
import { call, newUser } from "../call.ts";

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
