// The keys of the registry, with their leases, over all of its objects.
import { afterEach, expect, it } from "vitest";
import { call, newUser, pages, token } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";

afterEach(restore);

const put = (bearer: string, key: string, query = "") =>
  call(`/v1/cache/${encodeURIComponent(key)}${query}`, { method: "PUT", json: 1, token: bearer });

it("lists keys in byte order, page by page, with their expiry and who creates a value", async () => {
  const bearer = await token(newUser());
  // A code unit of the second is less than the first.
  const keys = ["a/1", "a/\uFF5E", "a/😀", "b/1", ...Array.from({ length: 20 }, (_, i) => `c/${i}`)];
  for (const key of keys) await put(bearer, key);
  await put(bearer, "d/short", "?ttlSeconds=60");
  await call("/v1/cache/e%2Fcoming/lease", { json: { leaseMs: 30_000 }, token: bearer });
  const listed: { key: string; version?: string; expiresAt?: number; leaseUntil?: number }[] = [];
  for await (const page of pages((cursor) =>
    call(`/v1/cache?limit=7${cursor === undefined ? "" : `&cursor=${cursor}`}`, { token: bearer }).then(
      ({ body }) => body,
    ),
  ))
    listed.push(...page.items);
  const inOrder = [...keys.slice(0, 4), ...keys.slice(4).toSorted((a, b) => (a < b ? -1 : 1))];
  expect(listed.map(({ key }) => key)).toEqual([...inOrder, "d/short", "e/coming"]);
  expect(listed.at(-2)).toMatchObject({ version: expect.any(String), expiresAt: expect.any(Number) });
  expect(listed.at(-1)).toEqual({ key: "e/coming", leaseUntil: expect.any(Number) });
  const some = (await call("/v1/cache?prefix=a%2F", { token: bearer })).body;
  expect(some.items.map(({ key }: { key: string }) => key)).toEqual(keys.slice(0, 3));
  expect(some.cursor).toBeUndefined();
  control.clockAhead += 61_000;
  const later = (await call("/v1/cache?limit=100", { token: bearer })).body.items;
  expect(later.map(({ key }: { key: string }) => key)).toEqual(inOrder);
});

it("shows nobody another namespace", async () => {
  const [one, other] = [newUser(), newUser()];
  await put(await token(one), "mine");
  expect((await call("/v1/cache", { token: await token(other) })).body).toEqual({ items: [] });
  const headers = { "Cairn-Namespace": "another app" };
  expect((await call("/v1/cache", { token: await token(one), headers })).body).toEqual({ items: [] });
});
