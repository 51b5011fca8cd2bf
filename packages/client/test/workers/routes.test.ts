// Every route of the API has a method of the client.
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Cairn } from "../../src/cairn.ts";
import { faked } from "../core/faked.ts";

const usage = { provider: "openai", model: "m", cachedInputTokens: 1, uncachedInputTokens: 1 } as const;

/** Which method calls which route. A new route goes in here, with its method. */
const methods: Record<string, (client: Cairn) => Promise<unknown>> = {
  "GET /health": ({ tenant }) => tenant.health(),
  "GET /.well-known/jwks.json": ({ tenant }) => tenant.receiptKeys(),
  "GET /v1/users": ({ tenant }) => tenant.users(),
  "DELETE /v1/users/{user}": ({ erasures }) => erasures.user("u"),
  "POST /v1/users/{user}/erasures": ({ erasures }) => erasures.scope("u", "s"),
  "GET /v1/erasures/{id}": ({ erasures }) => erasures.get("e"),
  "GET /v1/users/{user}/export": ({ transfer }) => transfer.export("u"),
  "POST /v1/users/{user}/import": ({ transfer }) => transfer.import("u", "{}"),
  "POST /v1/reindex": ({ tenant }) => tenant.reindex(),
  "GET /v1/reindex": ({ tenant }) => tenant.reindexState(),
  "GET /v1/context-profiles": ({ tenant }) => tenant.contextProfiles(),
  "PUT /v1/context-profiles/{profile}": ({ tenant }) => tenant.putContextProfile("p", [{ type: "facts" }]),
  "DELETE /v1/context-profiles/{profile}": ({ tenant }) => tenant.deleteContextProfile("p"),

  "POST /v1/users/{user}/recall": (client) => client.recall("u", { query: "q" }),
  "POST /v1/users/{user}/context": (client) => client.context("u", { query: "q" }),
  "POST /v1/recalls/{id}/outcome": ({ usage: counters }) => counters.outcome("r", { used: [] }),
  "GET /v1/users/{user}/usage": ({ usage: counters }) => counters.list("u"),
  "GET /v1/users/{user}/summary": ({ usage: counters }) => counters.summary("u"),
  "GET /v1/statistics": ({ usage: counters }) => counters.tenant(),
  "GET /v1/users/{user}/changes": ({ changes }) => changes.list("u"),
  "GET /v1/predicates": ({ tenant }) => tenant.predicateRules(),
  "PUT /v1/predicates/{predicate}": ({ tenant }) => tenant.putPredicateRule("p", { cardinality: "many" }),
  "GET /v1/extraction": ({ tenant }) => tenant.extraction(),
  "PUT /v1/extraction": ({ tenant }) => tenant.putExtraction({ rules: [{ leaveOut: ["politics"] }] }),
  "DELETE /v1/extraction": ({ tenant }) => tenant.deleteExtraction(),
  "DELETE /v1/predicates/{predicate}": ({ tenant }) => tenant.deletePredicateRule("p"),
  "POST /v1/users/{user}/ingest": (client) =>
    client.ingest("u", { messages: [{ role: "user", content: "c" }] }),
  "GET /v1/ingests/{id}": ({ ingests }) => ingests.get("i"),
  "POST /v1/ingests/{id}/retry": ({ ingests }) => ingests.retry("i"),
  "GET /v1/users/{user}/context-profiles": ({ contextProfiles }) => contextProfiles.list("u"),
  "PUT /v1/users/{user}/context-profiles/{profile}": ({ contextProfiles }) =>
    contextProfiles.put("u", "p", [{ type: "facts" }]),
  "DELETE /v1/users/{user}/context-profiles/{profile}": ({ contextProfiles }) =>
    contextProfiles.delete("u", "p"),
  "POST /v1/users/{user}/reindex": ({ memories }) => memories.reindex("u"),
  "GET /v1/users/{user}/reindex": ({ memories }) => memories.reindexState("u"),

  "GET /v1/users/{user}/kv": ({ kv }) => kv.list("u"),
  "DELETE /v1/users/{user}/kv": ({ kv }) => kv.deletePrefix("u", "p"),
  "POST /v1/users/{user}/kv/batch": ({ kv }) => kv.batch("u", []),
  "GET /v1/users/{user}/kv/{key}": ({ kv }) => kv.get("u", "k"),
  "PUT /v1/users/{user}/kv/{key}": ({ kv }) => kv.set("u", "k", 1),
  "DELETE /v1/users/{user}/kv/{key}": ({ kv }) => kv.delete("u", "k"),

  "POST /v1/users/{user}/threads": ({ threads }) => threads.create("u"),
  "POST /v1/threads": ({ threads }) => threads.createForNobody(),
  "POST /v1/users/{user}/threads/resume": ({ threads }) => threads.resume("u"),
  "GET /v1/users/{user}/threads": ({ threads }) => threads.list("u"),
  "GET /v1/threads": ({ threads }) => threads.listAll(),
  "GET /v1/threads/{id}": ({ threads }) => threads.get("t"),
  "PATCH /v1/threads/{id}": ({ threads }) => threads.patch("t", { title: "x" }),
  "DELETE /v1/threads/{id}": ({ threads }) => threads.delete("t"),
  "POST /v1/threads/{id}/fork": ({ threads }) => threads.fork("t"),
  "POST /v1/threads/{id}/messages": ({ threads }) => threads.append("t", []),
  "GET /v1/threads/{id}/messages": ({ threads }) => threads.read("t"),
  "DELETE /v1/threads/{id}/messages/{seq}": ({ threads }) => threads.deleteMessage("t", 1),
  "POST /v1/threads/{id}/compactions": ({ threads }) => threads.compact("t", { summary: "s", to: 1 }),
  "GET /v1/threads/{id}/compactions": ({ threads }) => threads.compactions("t"),
  "DELETE /v1/threads/{id}/compactions/{compaction}": ({ threads }) => threads.deleteCompaction("t", "c"),
  "POST /v1/threads/{id}/validate": ({ threads }) => threads.validate("t", { messages: [] }),

  "POST /v1/users/{user}/memories": ({ memories }) => memories.remember("u", { text: "t" }),
  "POST /v1/users/{user}/memories/batch": ({ memories }) => memories.rememberMany("u", []),
  "GET /v1/users/{user}/memories": ({ memories }) => memories.list("u"),
  "DELETE /v1/users/{user}/memories": ({ memories }) => memories.forgetAll("u"),
  "POST /v1/users/{user}/memories/forget": ({ memories }) => memories.forgetWhere("u", { key: "k" }),
  "GET /v1/users/{user}/memories/{id}": ({ memories }) => memories.get("u", "m"),
  "PATCH /v1/users/{user}/memories/{id}": ({ memories }) => memories.update("u", "m", { score: 1 }),
  "DELETE /v1/users/{user}/memories/{id}": ({ memories }) => memories.forget("u", "m"),
  "GET /v1/users/{user}/memories/{id}/history": ({ memories }) => memories.history("u", "m"),
  "POST /v1/users/{user}/memories/{id}/restore": ({ memories }) => memories.restore("u", "m", 1),
  "POST /v1/users/{user}/memories/review": ({ memories }) =>
    memories.review("u", { decision: "reject", filter: {} }),
  "POST /v1/users/{user}/memories/{id}/release": ({ memories }) => memories.release("u", "m"),

  "GET /v1/revocations": ({ access }) => access.revocations(),
  "PUT /v1/revocations/tokens/{tokenId}": ({ access }) => access.revoke("t"),
  "DELETE /v1/revocations/tokens/{tokenId}": ({ access }) => access.restore("t"),
  "PUT /v1/revocations/min-issued-at": ({ access }) => access.setMinIssuedAt(1),
  "DELETE /v1/revocations/min-issued-at": ({ access }) => access.clearMinIssuedAt(),
  "GET /v1/audit": ({ access }) => access.audit(),

  "GET /v1/cache": ({ cache }) => cache.keys(),
  "GET /v1/cache/{key}": ({ cache }) => cache.get("k"),
  "PUT /v1/cache/{key}": ({ cache }) => cache.set("k", 1),
  "DELETE /v1/cache/{key}": ({ cache }) => cache.forget("k"),
  "POST /v1/cache/{key}/take": ({ cache }) => cache.take("k"),
  "POST /v1/cache/{key}/lease": ({ cache }) => cache.lease("k", { leaseMs: 1 }),
  "DELETE /v1/cache/{key}/lease": ({ cache }) => cache.release("k", "l"),
  "POST /v1/prompt-cache/resolve": ({ promptCache }) =>
    promptCache.resolve({ provider: "openai", model: "m", hash: "h" }),
  "POST /v1/prompt-cache/report": ({ promptCache }) => promptCache.report(usage),
  "GET /v1/prompt-cache/stats": ({ promptCache }) => promptCache.stats(),
};

const VERBS = ["get", "put", "post", "patch", "delete"];

const document = async (): Promise<{ paths: Record<string, object> }> =>
  (await exports.default.fetch("https://cairn.test/openapi.json")).json();

it("has a method for every route that the API describes, and for no other", async () => {
  const { paths } = await document();
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((verb) => VERBS.includes(verb))
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  expect(Object.keys(methods).toSorted()).toEqual(described.toSorted());
});

it.each(Object.entries(methods))("calls %s", async (route, call) => {
  const { client, requests } = faked([Response.json({ items: [] })]);
  await call(client);
  const [{ method, url } = { method: "", url: "" }] = requests;
  const path = route.replace(/^\w+ /, "").replaceAll(/{\w+}/g, "[^/]+");
  expect(requests).toHaveLength(1);
  expect(`${method} ${new URL(url).pathname}`).toMatch(new RegExp(`^${route.split(" ")[0]} ${path}$`));
});
