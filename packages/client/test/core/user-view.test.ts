// The calls for one user: the same requests as those of the flat calls.
import { expect, expectTypeOf, it } from "vitest";
import type { Cairn } from "../../src/cairn.ts";
import type { UserView } from "../../src/cairn.ts";
import { faked } from "./faked.ts";

const USER = "ann/é";
type Requests = (client: Cairn) => Promise<unknown>;
const query = { query: "q" };

async function sent(call: Requests): Promise<unknown> {
  const { client, requests } = faked([Response.json({ items: [] })]);
  await call(client);
  return Promise.all(
    requests.map(async ({ method, url, body, ...request }) => [
      method,
      url,
      body === null ? null : await new Response(body).text(),
      request.headers,
    ]),
  );
}

const pairs: Record<string, [flat: Requests, ofUser: (user: UserView) => Promise<unknown>]> = {
  recall: [(client) => client.recall(USER, query), (user) => user.recall(query)],
  context: [(client) => client.context(USER, query), (user) => user.context(query)],
  "memories.list": [({ memories }) => memories.list(USER), ({ memories }) => memories.list()],
  "memories.all": [
    ({ memories }) => memories.all(USER, { tag: ["a"] }).next(),
    ({ memories }) => memories.all({ tag: ["a"] }).next(),
  ],
  "memories.get": [({ memories }) => memories.get(USER, "m"), ({ memories }) => memories.get("m")],
  "threads.resume": [
    ({ threads }) => threads.resume(USER, { agent: "chat" }),
    ({ threads }) => threads.resume({ agent: "chat" }),
  ],
  "threads.list": [({ threads }) => threads.list(USER), ({ threads }) => threads.list()],
  "threads.all": [({ threads }) => threads.all(USER).next(), ({ threads }) => threads.all().next()],
  "threads.read": [
    ({ threads }) => threads.read("t", { limit: 2 }),
    ({ threads }) => threads.read("t", { limit: 2 }),
  ],
  "kv.get": [({ kv }) => kv.get(USER, "k"), ({ kv }) => kv.get("k")],
  "kv.set": [({ kv }) => kv.set(USER, "k", 1, { ttlMs: 5 }), ({ kv }) => kv.set("k", 1, { ttlMs: 5 })],
  "kv.deletePrefix": [({ kv }) => kv.deletePrefix(USER, "p"), ({ kv }) => kv.deletePrefix("p")],
};

it.each(Object.entries(pairs))("%s is the call of the client for its user", async (_, [flat, ofUser]) => {
  expect(await sent((client) => ofUser(client.user(USER)))).toEqual(await sent(flat));
});

it("stores under a user: a memory, a conversation, a thread", async () => {
  const { client, requests } = faked([Response.json({}), Response.json({}), Response.json({})]);
  const { remember, ingest, threads } = client.user("ann");
  await remember({ text: "tea" });
  await ingest({ messages: [{ role: "user", content: "tea" }] });
  await threads.create({ title: "tea" });
  expect(requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
    "POST /v1/users/ann/memories",
    "POST /v1/users/ann/ingest",
    "POST /v1/users/ann/threads",
  ]);
  // An idempotency key goes with a write, as from the flat call.
  expect(requests.every(({ headers }) => headers.has("Idempotency-Key"))).toBe(true);
});

it("keeps the deadline of the client that it is made of", async () => {
  const { client, limits, expire } = faked([() => new Promise<Response>(() => {})]);
  const call = client.within(50).user("ann").recall(query);
  await expect.poll(() => limits.size).toBeGreaterThan(0);
  expect(expire()).toBe(50);
  await expect(call).rejects.toMatchObject({ code: "timeout" });
});

it("has the types of the flat calls", () => {
  expectTypeOf<Parameters<UserView["recall"]>[0]>().toEqualTypeOf<Parameters<Cairn["recall"]>[1]>();
  expectTypeOf<ReturnType<UserView["memories"]["list"]>>().toEqualTypeOf<
    ReturnType<Cairn["memories"]["list"]>
  >();
  expectTypeOf<ReturnType<UserView["kv"]["get"]>>().toEqualTypeOf<Promise<unknown>>();
  expectTypeOf<UserView["threads"]["append"]>().toEqualTypeOf<Cairn["threads"]["append"]>();
  expectTypeOf<UserView["threads"]>().not.toHaveProperty("listAll");
});
