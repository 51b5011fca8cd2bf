// The method of the client for each route: tests that are made from it forget none.
import type { Cairn } from "../src/cairn.ts";

const usage = { provider: "openai", model: "m", cachedInputTokens: 1, uncachedInputTokens: 1 } as const;

/** The parameters of a path by their names. */
export type Params = Record<
  "user" | "id" | "key" | "seq" | "compaction" | "profile" | "predicate" | "tokenId",
  string
>;

/** The method of the client for each route. A new route goes in here, with its method. */
export const methods: Record<string, (client: Cairn, at: Params) => Promise<unknown>> = {
  "GET /health": ({ tenant }) => tenant.health(),
  "GET /.well-known/jwks.json": ({ tenant }) => tenant.receiptKeys(),
  "GET /v1/users": ({ tenant }) => tenant.users(),
  "DELETE /v1/users/{user}": ({ erasures }, at) => erasures.user(at.user),
  "POST /v1/users/{user}/erasures": ({ erasures }, at) => erasures.scope(at.user, "s"),
  "GET /v1/erasures/{id}": ({ erasures }, at) => erasures.get(at.id),
  "GET /v1/users/{user}/export": ({ transfer }, at) => transfer.export(at.user),
  "POST /v1/users/{user}/import": ({ transfer }, at) => transfer.import(at.user, "{}"),
  "POST /v1/users/{user}/restore": ({ transfer }, at) => transfer.restore(at.user, { at: 1 }),
  "POST /v1/reindex": ({ tenant }) => tenant.reindex(),
  "POST /v1/webhook/resume": ({ tenant }) => tenant.resumeWebhook(),
  "GET /v1/reindex": ({ tenant }) => tenant.reindexState(),
  "GET /v1/context-profiles": ({ tenant }) => tenant.contextProfiles(),
  "PUT /v1/context-profiles/{profile}": ({ tenant }, at) =>
    tenant.putContextProfile(at.profile, [{ type: "facts" }]),
  "DELETE /v1/context-profiles/{profile}": ({ tenant }, at) => tenant.deleteContextProfile(at.profile),

  "POST /v1/users/{user}/recall": (client, at) => client.recall(at.user, { query: "q" }),
  "POST /v1/users/{user}/context": (client, at) => client.context(at.user, { query: "q" }),
  "POST /v1/recalls/{id}/outcome": ({ usage: counters }, at) => counters.outcome(at.id, { used: [] }),
  "GET /v1/users/{user}/usage": ({ usage: counters }, at) => counters.list(at.user),
  "GET /v1/users/{user}/summary": ({ usage: counters }, at) => counters.summary(at.user),
  "GET /v1/statistics": ({ usage: counters }) => counters.tenant(),
  "GET /v1/users/{user}/changes": ({ changes }, at) => changes.list(at.user),
  "GET /v1/predicates": ({ tenant }) => tenant.predicateRules(),
  "PUT /v1/predicates/{predicate}": ({ tenant }, at) =>
    tenant.putPredicateRule(at.predicate, { cardinality: "many" }),
  "GET /v1/extraction": ({ tenant }) => tenant.extraction(),
  "PUT /v1/extraction": ({ tenant }) => tenant.putExtraction({ rules: [{ leaveOut: ["politics"] }] }),
  "DELETE /v1/extraction": ({ tenant }) => tenant.deleteExtraction(),
  "DELETE /v1/predicates/{predicate}": ({ tenant }, at) => tenant.deletePredicateRule(at.predicate),
  "GET /v1/retention": ({ retention }) => retention.tenant(),
  "PUT /v1/retention": ({ retention }) => retention.putTenant({ messages: "3650d" }),
  "DELETE /v1/retention": ({ retention }) => retention.deleteTenant(),
  "GET /v1/users/{user}/retention": ({ retention }, at) => retention.get(at.user),
  "PUT /v1/users/{user}/retention": ({ retention }, at) => retention.put(at.user, { messages: "3650d" }),
  "DELETE /v1/users/{user}/retention": ({ retention }, at) => retention.delete(at.user),
  "POST /v1/users/{user}/ingest": (client, at) =>
    client.ingest(at.user, { messages: [{ role: "user", content: "c" }] }),
  "GET /v1/ingests/{id}": ({ ingests }, at) => ingests.get(at.id),
  "POST /v1/ingests/{id}/retry": ({ ingests }, at) => ingests.retry(at.id),
  "GET /v1/users/{user}/context-profiles": ({ contextProfiles }, at) => contextProfiles.list(at.user),
  "PUT /v1/users/{user}/context-profiles/{profile}": ({ contextProfiles }, at) =>
    contextProfiles.put(at.user, at.profile, [{ type: "facts" }]),
  "DELETE /v1/users/{user}/context-profiles/{profile}": ({ contextProfiles }, at) =>
    contextProfiles.delete(at.user, at.profile),
  "POST /v1/users/{user}/reindex": ({ memories }, at) => memories.reindex(at.user),
  "GET /v1/users/{user}/reindex": ({ memories }, at) => memories.reindexState(at.user),

  "GET /v1/users/{user}/kv": ({ kv }, at) => kv.list(at.user),
  "DELETE /v1/users/{user}/kv": ({ kv }, at) => kv.deletePrefix(at.user, "p"),
  "POST /v1/users/{user}/kv/batch": ({ kv }, at) => kv.batch(at.user, []),
  "GET /v1/users/{user}/kv/{key}": ({ kv }, at) => kv.get(at.user, at.key),
  "PUT /v1/users/{user}/kv/{key}": ({ kv }, at) => kv.set(at.user, at.key, 1),
  "DELETE /v1/users/{user}/kv/{key}": ({ kv }, at) => kv.delete(at.user, at.key),

  "POST /v1/users/{user}/threads": ({ threads }, at) => threads.create(at.user),
  "POST /v1/threads": ({ threads }) => threads.createForNobody(),
  "POST /v1/users/{user}/threads/resume": ({ threads }, at) => threads.resume(at.user),
  "GET /v1/users/{user}/threads": ({ threads }, at) => threads.list(at.user),
  "GET /v1/threads": ({ threads }) => threads.listAll(),
  "GET /v1/threads/{id}": ({ threads }, at) => threads.get(at.id),
  "PATCH /v1/threads/{id}": ({ threads }, at) => threads.patch(at.id, { title: "x" }),
  "DELETE /v1/threads/{id}": ({ threads }, at) => threads.delete(at.id),
  "POST /v1/threads/{id}/fork": ({ threads }, at) => threads.fork(at.id),
  "POST /v1/threads/{id}/messages": ({ threads }, at) => threads.append(at.id, []),
  "GET /v1/threads/{id}/messages": ({ threads }, at) => threads.read(at.id),
  "DELETE /v1/threads/{id}/messages/{seq}": ({ threads }, at) => threads.deleteMessage(at.id, Number(at.seq)),
  "POST /v1/threads/{id}/compactions": ({ threads }, at) => threads.compact(at.id, { summary: "s", to: 1 }),
  "GET /v1/threads/{id}/compactions": ({ threads }, at) => threads.compactions(at.id),
  "DELETE /v1/threads/{id}/compactions/{compaction}": ({ threads }, at) =>
    threads.deleteCompaction(at.id, at.compaction),
  "POST /v1/threads/{id}/validate": ({ threads }, at) => threads.validate(at.id, { messages: [] }),

  "POST /v1/users/{user}/memories": ({ memories }, at) => memories.remember(at.user, { text: "t" }),
  "POST /v1/users/{user}/memories/batch": ({ memories }, at) => memories.rememberMany(at.user, []),
  "GET /v1/users/{user}/memories": ({ memories }, at) => memories.list(at.user),
  "DELETE /v1/users/{user}/memories": ({ memories }, at) => memories.forgetAll(at.user),
  "POST /v1/users/{user}/memories/forget": ({ memories }, at) => memories.forgetWhere(at.user, { key: "k" }),
  "GET /v1/users/{user}/memories/{id}": ({ memories }, at) => memories.get(at.user, at.id),
  "PATCH /v1/users/{user}/memories/{id}": ({ memories }, at) => memories.update(at.user, at.id, { score: 1 }),
  "DELETE /v1/users/{user}/memories/{id}": ({ memories }, at) => memories.forget(at.user, at.id),
  "GET /v1/users/{user}/memories/{id}/history": ({ memories }, at) => memories.history(at.user, at.id),
  "POST /v1/users/{user}/memories/{id}/restore": ({ memories }, at) => memories.restore(at.user, at.id, 1),
  "POST /v1/users/{user}/memories/review": ({ memories }, at) =>
    memories.review(at.user, { decision: "reject", filter: {} }),
  "POST /v1/users/{user}/memories/{id}/release": ({ memories }, at) => memories.release(at.user, at.id),

  "GET /v1/users/{user}/sign-ins": ({ signIns }, at) => signIns.list(at.user),
  "DELETE /v1/users/{user}/sign-ins/{id}": ({ signIns }, at) => signIns.revoke(at.user, at.id),
  "POST /v1/users/{user}/sign-in-codes": ({ signIns }, at) => signIns.createCode(at.user),
  "GET /v1/revocations": ({ access }) => access.revocations(),
  "PUT /v1/revocations/tokens/{tokenId}": ({ access }, at) => access.revoke(at.tokenId),
  "DELETE /v1/revocations/tokens/{tokenId}": ({ access }, at) => access.restore(at.tokenId),
  "PUT /v1/revocations/min-issued-at": ({ access }) => access.setMinIssuedAt(1),
  "DELETE /v1/revocations/min-issued-at": ({ access }) => access.clearMinIssuedAt(),
  "GET /v1/audit": ({ access }) => access.audit(),

  "GET /v1/cache": ({ cache }) => cache.keys(),
  "GET /v1/cache/{key}": ({ cache }, at) => cache.get(at.key),
  "PUT /v1/cache/{key}": ({ cache }, at) => cache.set(at.key, 1),
  "DELETE /v1/cache/{key}": ({ cache }, at) => cache.forget(at.key),
  "POST /v1/cache/{key}/take": ({ cache }, at) => cache.take(at.key),
  "POST /v1/cache/{key}/lease": ({ cache }, at) => cache.lease(at.key, { leaseMs: 1 }),
  "DELETE /v1/cache/{key}/lease": ({ cache }, at) => cache.release(at.key, "l"),
  "POST /v1/prompt-cache/resolve": ({ promptCache }) =>
    promptCache.resolve({ provider: "openai", model: "m", hash: "h" }),
  "POST /v1/prompt-cache/report": ({ promptCache }) => promptCache.report(usage),
  "GET /v1/prompt-cache/stats": ({ promptCache }) => promptCache.stats(),
};
