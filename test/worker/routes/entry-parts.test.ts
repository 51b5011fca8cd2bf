// Values in parts, as the adapters keep large ones: the server keeps the parts to the entry that names them.
import { afterEach, describe, expect, it } from "vitest";
import { partKeys, partsUnder } from "../../../src/domain/entry-parts.ts";
import { call, newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";

afterEach(restore);

const ID = "0123456789abcdef".repeat(2);
const OTHER = ID.replaceAll("0", "f");
const named = (cairnParts = ID, count = 2) => ({ cairnParts, count });
const kv = (user: string) => `/v1/users/${user}/kv`;
type Operation = { op: string; key: string; value?: unknown; [more: string]: unknown };
const batch = (user: string, operations: Operation[]) => call(`${kv(user)}/batch`, { json: { operations } });
const setParts = (key: string, id = ID, more: object = {}): Operation[] =>
  partKeys(key, named(id)).map((part, i) => ({ op: "set", key: part, value: `${id}-${i}`, ...more }));
const set = (key: string, id = ID, more: object = {}): Operation[] => [
  ...setParts(key, id),
  { op: "set", key, value: named(id), ...more },
];
const found = async (user: string, key: string, id = ID): Promise<boolean[]> => {
  const { body } = await batch(
    user,
    [key, ...partKeys(key, named(id))].map((one) => ({ op: "get", key: one })),
  );
  return body.results.map((result: { found: boolean }) => result.found);
};
const ALL = [true, true, true];
const NONE = [false, false, false];

it.each([
  ["a delete", (user: string) => call(`${kv(user)}/k`, { method: "DELETE" })],
  ["a delete in a batch", (user: string) => batch(user, [{ op: "delete", key: "k" }])],
  ["a delete by prefix", (user: string) => call(`${kv(user)}?prefix=k`, { method: "DELETE" })],
])("%s takes the parts along, and nobody else's", async (_how, remove) => {
  const user = newUser();
  for (const key of ["k", "j", "l"]) await batch(user, set(key));
  await remove(user);
  expect(await found(user, "k")).toEqual(NONE);
  expect([await found(user, "j"), await found(user, "l")]).toEqual([ALL, ALL]);
});

it("a value that takes the place of another one takes its parts, and leaves those of a write that is under way", async () => {
  const user = newUser();
  await batch(user, set("k"));
  await batch(user, setParts("k", OTHER));
  await call(`${kv(user)}/k`, { method: "PUT", json: "small" });
  expect(await found(user, "k")).toEqual([true, false, false]);
  expect((await found(user, "k", OTHER)).slice(1)).toEqual([true, true]);
  expect((await batch(user, [{ op: "set", key: "k", value: named(OTHER) }])).status).toBe(200);
  expect(await found(user, "k", OTHER)).toEqual(ALL);
});

it("an entry that names parts which are not there is refused, and what was there stays", async () => {
  const user = newUser();
  await batch(user, set("k"));
  const missing = await call(`${kv(user)}/k`, { method: "PUT", json: named(OTHER) });
  expect([missing.status, missing.body.error.code]).toEqual([409, "parts_missing"]);
  expect(missing.body.error.details[0].path).toBe("body");
  await batch(user, setParts("k", OTHER).slice(1));
  expect((await batch(user, [{ op: "set", key: "k", value: named(OTHER) }])).status).toBe(409);
  expect(await found(user, "k")).toEqual(ALL);
});

it("parts live as long as their entry, also where a read begins its time anew, and without one they expire", async () => {
  const user = newUser();
  await batch(user, [
    ...setParts("k", ID, { ttlMs: 1000 }),
    { op: "set", key: "k", value: named(), ttlMs: 10_000, refreshOnRead: true },
    ...setParts("for ever", ID, { ttlMs: 1000 }),
    { op: "set", key: "for ever", value: named() },
    ...setParts("unnamed", ID, { ttlMs: 1000 }),
  ]);
  control.clockAhead = 8_000;
  expect(await found(user, "k")).toEqual(ALL);
  expect(await found(user, "unnamed")).toEqual(NONE);
  control.clockAhead = 16_000;
  expect(await found(user, "k")).toEqual(ALL);
  control.clockAhead = 60_000;
  expect(await found(user, "k")).toEqual(NONE);
  expect(await found(user, "for ever")).toEqual(ALL);
});

it("a part that is written alone expires within an hour, or with the entry that names it", async () => {
  const user = newUser();
  const putPart = (key: string, query = "") =>
    call(`${kv(user)}/${encodeURIComponent(partKeys(key, named())[0] ?? "")}?${query}`, {
      method: "PUT",
      json: "part",
    });
  await batch(user, [...set("kept"), ...set("short", ID, { ttlMs: 10_000 })]);
  const day = `ttlMs=${24 * 60 * 60_000}`;
  for (const query of ["", day]) expect((await putPart(`alone${query}`, query)).status).toBe(200);
  for (const key of ["kept", "short"]) await putPart(key);
  expect(await found(user, `alone${day}`)).toEqual([false, true, false]);
  control.clockAhead = 11_000;
  expect([await found(user, "kept"), await found(user, "short")]).toEqual([ALL, NONE]);
  control.clockAhead = 60 * 60_000 + 1000;
  expect([await found(user, "alone"), await found(user, `alone${day}`)]).toEqual([NONE, NONE]);
  expect(await found(user, "kept")).toEqual(ALL);
});

it("no list shows parts, nor counts them, unless they are asked for", async () => {
  const user = newUser();
  for (const key of ["a", "b"]) await batch(user, set(key));
  const keys = async (query: string): Promise<string[]> =>
    (await call(`${kv(user)}?${query}`)).body.items.map(({ key }: { key: string }) => key);
  expect(await keys("values=true")).toEqual(["a", "b"]);
  expect(await keys("prefix=a")).toEqual(["a"]);
  const page = (await call(`${kv(user)}?limit=1&count=true`)).body;
  expect(page).toMatchObject({ items: [{ key: "a" }], count: 2 });
  expect((await call(`${kv(user)}?limit=1&cursor=${page.cursor}`)).body.items).toMatchObject([{ key: "b" }]);
  expect(await keys(`prefix=${encodeURIComponent(partsUnder("a", ID))}`)).toEqual(partKeys("a", named()));
  expect((await call(`${kv(user)}?prefix=`, { method: "DELETE" })).body).toEqual({ deleted: 2 });
  expect(await found(user, "a")).toEqual(NONE);
});

it("a part's key may be longer than a key, and no other key is taken for a part", async () => {
  const user = newUser();
  const key = "k".repeat(1024);
  expect((await batch(user, set(key))).status).toBe(200);
  expect(await found(user, key)).toEqual(ALL);
  const wrong = await batch(user, [{ op: "set", key: "a\u001Fpart\u001Fb", value: 1 }]);
  expect(wrong.body.error.details[0].path).toBe("body.operations[0].key");
  expect((await batch(user, [{ op: "set", key: `${key}k`, value: 1 }])).body.error.code).toBe(
    "limit_exceeded",
  );
});

it("an export brings a value in parts, which an import puts there whole; where another value is, it stays", async () => {
  const user = newUser();
  await batch(user, set("k"));
  const lines = (await call(`/v1/users/${user}/export`)).text;
  const take = () =>
    call(`/v1/users/${user}/import`, {
      method: "POST",
      raw: lines,
      headers: { "Content-Type": "application/x-ndjson" },
    });
  await batch(user, [{ op: "delete", key: "k" }]);
  expect((await take()).status).toBe(200);
  expect(await found(user, "k")).toEqual(ALL);
  await batch(user, set("k", OTHER));
  await take();
  expect(await found(user, "k", OTHER)).toEqual(ALL);
  expect((await found(user, "k")).slice(1)).toEqual([false, false]);
});

describe("in the registry", () => {
  const at = (key: string) => `/v1/cache/${encodeURIComponent(key)}`;
  const status = async (key: string) => (await call(at(key))).status;
  const put = (key: string, value: unknown) => call(at(key), { method: "PUT", json: value });
  const store = async (key: string) => {
    for (const part of partKeys(key, named())) await put(part, "part");
    expect((await put(key, named())).status).toBe(200);
  };
  const parts = (key: string) => Promise.all(partKeys(key, named()).map(status));

  it("parts are in their entry's object, and go with it", async () => {
    for (let i = 0; i < 8; i++) {
      const key = `r-${newUser()}`;
      await store(key);
      expect(await parts(key)).toEqual([200, 200]);
      if (i % 2 === 0) await call(at(key), { method: "DELETE" });
      else await put(key, "small");
      expect(await parts(key)).toEqual([404, 404]);
    }
  });

  it("whoever takes an entry has ten minutes to fetch its parts", async () => {
    const key = `r-${newUser()}`;
    await store(key);
    expect((await call(`${at(key)}/take`, { method: "POST" })).body).toEqual(named());
    expect([await status(key), ...(await parts(key))]).toEqual([404, 200, 200]);
    control.clockAhead = 10 * 60_000 + 1000;
    expect(await parts(key)).toEqual([404, 404]);
  });
});
