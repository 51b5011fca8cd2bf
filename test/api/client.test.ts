// The client package's part of the registry, against the Worker.
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type Cairn, cairn } from "../../src/client/index.ts";
import { newUser, token } from "../call.ts";

const client = async (namespace?: string, bearer?: string): Promise<Cairn> =>
  cairn({
    url: "https://cairn.test",
    token: bearer ?? (await token(newUser())),
    fetch: (request) => exports.default.fetch(request),
    ...(namespace !== undefined && { namespace }),
  });

it("takes a value once", async () => {
  const { cache } = await client();
  await cache.set("run/1", { step: 2 });
  expect(await cache.take("run/1")).toEqual({ step: 2 });
  expect(await cache.take("run/1")).toBeNull();
});

it("creates a value under a lease, and shares it with who waits", async () => {
  const { cache } = await client();
  const mine = await cache.lease("k", { leaseMs: 60_000 });
  if (mine.status !== "lease") throw new Error(mine.status);
  const theirs = cache.lease<string>("k", { leaseMs: 60_000, waitMs: 60_000 });
  await cache.set("k", "made", { lease: mine.lease.id, ttlSeconds: 60 });
  expect(await theirs).toMatchObject({ status: "hit", value: "made" });
  await expect(cache.set("k", "late", { lease: mine.lease.id })).rejects.toMatchObject({
    code: "lease_lost",
  });
});

it("releases a lease", async () => {
  const { cache } = await client();
  const mine = await cache.lease("k", { leaseMs: 60_000 });
  expect((await cache.lease("k", { leaseMs: 1 })).status).toBe("wait");
  if (mine.status === "lease") await cache.release("k", mine.lease.id);
  expect((await cache.lease("k", { leaseMs: 1 })).status).toBe("lease");
});

it("forgets the version that it means", async () => {
  const { cache } = await client();
  const { version } = await cache.set("k", "old");
  await cache.set("k", "new");
  await cache.forget("k", { version });
  expect(await cache.get("k")).toBe("new");
  await cache.forget("k");
  expect(await cache.get("k")).toBeNull();
});

it("keeps to its namespace", async () => {
  const bearer = await token(newUser());
  const [one, two] = [await client("one", bearer), await client("two", bearer)];
  await one.cache.set("k", 1);
  expect(await two.cache.get("k")).toBeNull();
  expect(await one.cache.get("k")).toBe(1);
});

it("resolves, reports and reads what was saved", async () => {
  const { promptCache, cache } = await client();
  const prompt = { provider: "google", model: "gemini-2.5-pro", regions: ["system"], ttl: "1h" } as const;
  const create = await promptCache.resolve({ ...prompt, regions: [...prompt.regions] });
  if (create.status !== "create") throw new Error(create.status);
  const resource = { name: "cachedContents/1", expiresAt: Date.now() + 3_600_000 };
  const { lease, ttlSeconds = 0 } = create;
  await cache.set(create.key, resource, { lease: lease.id, ttlSeconds });
  expect(await promptCache.resolve({ ...prompt, regions: [...prompt.regions] })).toMatchObject(resource);
  await promptCache.report({
    provider: "google",
    model: "gemini-2.5-pro",
    cachedInputTokens: 9,
    uncachedInputTokens: 1,
  });
  const { total } = await promptCache.stats({ model: "gemini-2.5-pro" });
  expect(total).toMatchObject({ calls: 1, hitRate: 0.9, tokensSaved: 9 });
});
