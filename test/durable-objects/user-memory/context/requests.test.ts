// The budget and the tokens of a context, its sources and explanations, and the requests that it refuses.
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { portsOf } from "../../../../src/platform/bindings.ts";
import { call, newUser, tokenWith } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { remember } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";
import { ask, context, lines, lives } from "./calls.ts";

afterEach(restore);

it("stays within its budget", async () => {
  const user = newUser();
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      remember(user, { text: `Ann owns thing ${i} ${"of a kind ".repeat(9)}` }),
    ),
  );
  for (const budget of [100, 150, 400, 1000]) {
    const { tokens, stable, recalled } = await context(user, { query: "What does Ann own?", budget });
    expect(stable.tokens).toBe(Math.ceil(stable.text.length / 4));
    expect(tokens).toBe(stable.tokens + recalled.tokens);
    expect(tokens).toBeLessThanOrEqual(budget);
  }
});

it("stays within a budget that a tokenizer counts", async () => {
  const user = newUser();
  await Promise.all(
    ["日本語の文章です", "naïve café Ωμέγα", "plain words", "🙂🙃 {}[]();"].flatMap((text) =>
      Array.from({ length: 5 }, (_, i) => remember(user, { text: `Ann said ${i} ${text.repeat(4)}` })),
    ),
  );
  const count = await portsOf(env).tokenCounter("o200k_base");
  for (const budget of [100, 200, 500]) {
    const { id: threadId } = await create(user);
    const asked = { query: "What did Ann say?", budget, tokenizer: "o200k_base", threadId };
    const { tokens, stable, recalled } = await context(user, asked);
    expect([stable.tokens, recalled.tokens]).toEqual([count(stable.text), count(recalled.text)]);
    expect(tokens).toBe(stable.tokens + recalled.tokens);
    expect(tokens).toBeGreaterThan(budget / 3);
    expect(tokens).toBeLessThanOrEqual(budget);
  }
});

it("answers 503 and keeps nothing if the tokenizer cannot be loaded", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await lives(user, "Porto");
  control.tokenizer = "fail";
  const asked = { query: "hello", threadId, tokenizer: "o200k_base" };
  const { status, body: answer } = await ask(user, asked);
  expect([status, answer.error.details[0].path]).toEqual([503, "body.tokenizer"]);
  restore();
  expect(lines((await context(user, asked)).stable.text)).toEqual(["- Ann: lives in Porto"]);
});

it("tells of each item where it is from", async () => {
  const user = newUser();
  const { id: thread } = await create(user);
  await append((await create(user)).id, [say("I keep my boat in Setúbal")]);
  const { id } = await lives(user, "Porto");
  const body = { query: "Where is my boat?", threadId: thread, sources: true };
  const { stable, recalled } = await context(user, body);
  expect(lines(stable.text)).toEqual([`- Ann: lives in Porto (id: ${id})`]);
  expect(lines(recalled.text)).toEqual([expect.stringMatching(/Setúbal \(id: \S+:\d+\)$/)]);
  expect((await context(user, { ...body, sources: false })).recalled).toEqual(recalled);
});

it("explains why each candidate is in or out", async () => {
  const user = newUser();
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      remember(user, { text: `Ann owns thing ${i} ${"of a kind ".repeat(9)}` }),
    ),
  );
  const { candidates } = await context(user, {
    query: "What does Ann own?",
    answerable: "off",
    budget: 300,
    explain: true,
  });
  const reasons = new Set(candidates.map(({ why }: { why: string }) => why));
  expect(reasons).toEqual(new Set(["fits", "budget", "known"]));
});

it.each([
  [{ budget: 99 }, "body.budget"],
  [{ format: "yaml" }, "body.format"],
  [{ layers: [{ type: "dreams" }] }, "body.layers[0].type"],
  [{ layers: [{ type: "facts", slot: -1 }] }, "body.layers[0].slot"],
  [{ layers: [{ type: "facts", tokens: { min: 10, max: 5 } }] }, "body.layers[0].tokens.min"],
  [{ layers: [{ type: "facts", tokens: { min: 3000 } }] }, "body.budget"],
  [{ layers: [{ type: "facts" }, { type: "facts" }] }, "body.layers[1].type"],
  [{ layers: [{ type: "history" }] }, "body.layers"],
  [{ layers: [{ type: "recalled", mode: "eventual" }] }, "body.layers[0].mode"],
  [{ layers: [{ type: "entries" }] }, "body.layers[0].prefix"],
  [{ layers: [{ type: "facts" }], profile: "p" }, "body.profile"],
  [{ profile: "none" }, "body.profile"],
  [{ messages: ["abc"], threadId: "t" }, "body.messages[0]"],
  [{ messages: [] }, "body.messages"],
  [{ cacheTtl: "soon" }, "body.cacheTtl"],
  [{ snapshotTtl: "1h" }, "body.snapshotTtl"],
  [{ snapshot: "s", snapshotTtl: "2d" }, "body.snapshotTtl"],
  [{ tokenizer: "o200k" }, "body.tokenizer"],
])("refuses %j by its field", async (body, path) => {
  const { status, body: answer } = await ask(newUser(), body);
  expect([status, answer.error.details[0].path]).toEqual([400, path]);
});

it("answers 404 for a thread of somebody else, and takes a token that only reads", async () => {
  const [user, other] = [newUser(), newUser()];
  const { id } = await create(other);
  expect((await ask(user, { query: "hello", threadId: id })).status).toBe(404);
  const token = await tokenWith({ user, scope: ["read"] });
  expect((await call(`/v1/users/${user}/context`, { json: {}, token })).status).toBe(200);
});
