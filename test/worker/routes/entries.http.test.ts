import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { call, newUser, pagesOf } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";

afterEach(restore);

const at = (user: string, key: string) => `/v1/users/${user}/kv/${encodeURIComponent(key)}`;
const put = (user: string, key: string, value: unknown, ttlMs?: number) =>
  call(at(user, key) + (ttlMs === undefined ? "" : `?ttlMs=${ttlMs}`), { method: "PUT", json: value });
const get = (user: string, key: string) => call(at(user, key));

async function listAll(user: string, query = ""): Promise<string[]> {
  const keys: string[] = [];
  for await (const { items } of pagesOf(`/v1/users/${user}/kv?${query}`))
    keys.push(...items.map(({ key }: { key: string }) => key));
  return keys;
}

it("keeps any JSON value apart from a miss, with a version for each write", async () => {
  const user = newUser();
  for (const value of [0, false, "", null, [], {}, "text", 1.5, { a: [1, { b: null }] }]) {
    const written = await put(user, "k", value);
    expect(written.status).toBe(200);
    const read = await get(user, "k");
    expect(read.body).toEqual(value);
    expect(read.headers.get("ETag")).toBe(`"${written.body.version}"`);
    expect(read.headers.get("ETag")).toBe(written.headers.get("ETag"));
  }
  expect((await get(user, "other")).status).toBe(404);
});

it("gives a value back byte for byte, numbers beyond a double and the order of keys included", async () => {
  const user = newUser();
  const raw = '{ "2": 12345678901234567890, "1": 1.0, "__proto__": {"a": 1}, "é": "\\u00e9" }';
  await call(at(user, "k"), { method: "PUT", raw });
  expect((await get(user, "k")).text).toBe(raw);
  const listed = await call(`/v1/users/${user}/kv?values=true`);
  expect(listed.text).toContain(`"value":${raw}}`);
});

it.each([
  "a/b",
  "100%",
  "a b",
  "😀",
  "é",
  "?x=1&y",
  "#",
  "a\u0000b",
  "\n",
  "layers/x/thread:1/state",
  "%41",
  "+",
])("takes the key %j", async (key) => {
  const user = newUser();
  await put(user, key, { key });
  expect((await get(user, key)).body).toEqual({ key });
  expect(await listAll(user)).toEqual([key]);
  expect((await call(at(user, key), { method: "DELETE" })).status).toBe(204);
  expect((await get(user, key)).status).toBe(404);
});

it("deletes what is not there without an error", async () => {
  expect((await call(at(newUser(), "nothing"), { method: "DELETE" })).status).toBe(204);
});

it("sets an expiry: alive up to its last millisecond, gone after it, cleared by a write without one", async () => {
  const user = newUser();
  const { body } = await put(user, "k", 1, 60_000);
  const remaining = () => body.expiresAt - clock() - control.clockAhead;
  expect(remaining()).toBeGreaterThan(0);
  await put(user, "kept", 1, 60_000);
  await put(user, "kept", 2);
  control.clockAhead = 60_000 - 5_000;
  expect((await get(user, "k")).body).toBe(1);
  control.clockAhead = 60_001;
  expect((await get(user, "k")).status).toBe(404);
  expect(await listAll(user)).toEqual(["kept"]);
  expect((await get(user, "kept")).body).toBe(2);
});

it("takes a time to live of 0 as gone at the next millisecond, not as for ever", async () => {
  const user = newUser();
  await put(user, "k", 1, 0);
  control.clockAhead = 1_000;
  expect((await get(user, "k")).status).toBe(404);
});

it.each(["-1", "1.5", "NaN", "", "1e3", "Infinity"])("refuses the time to live %j", async (ttl) => {
  const answer = await call(`${at(newUser(), "k")}?ttlMs=${ttl}`, { method: "PUT", json: 1 });
  expect(answer.status).toBe(400);
  expect(answer.body.error.details[0].path).toBe("query.ttlMs");
});

it("lists in byte order by a literal prefix, and brings the values if asked", async () => {
  const user = newUser();
  const keys = ["a", "a%", "a%b", "a_", "ab", "b", "é", "z", "\u{1f600}", "\uffee"];
  for (const key of keys) await put(user, key, key);
  const bytes = (text: string) => new TextEncoder().encode(text).toString();
  expect((await listAll(user)).map(bytes)).toEqual(
    keys
      .map((key) => new TextEncoder().encode(key))
      .toSorted(compareBytes)
      .map(String),
  );
  expect(await listAll(user, "prefix=a%25")).toEqual(["a%", "a%b"]);
  expect(await listAll(user, "prefix=a_")).toEqual(["a_"]);
  expect(await listAll(user, "prefix=*")).toEqual([]);
  const valued = await call(`/v1/users/${user}/kv?prefix=b&values=true`);
  expect(valued.body.items).toMatchObject([{ key: "b", value: "b" }]);
  expect((await call(`/v1/users/${user}/kv?prefix=b`)).body.items[0]).not.toHaveProperty("value");
});

const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return (a[i] ?? 0) - (b[i] ?? 0);
  return a.length - b.length;
};

describe("pages", () => {
  it("are complete and without repetition, whatever their size and the prefix", async () => {
    const user = newUser();
    const letter = fc.constantFrom("a", "b", "%", "_", "/", "é", "\u{10ffff}");
    const word = fc.array(letter, { minLength: 1, maxLength: 4 }).map((letters) => letters.join(""));
    const stored = new Set(fc.sample(word, { numRuns: 40, seed: 7 }));
    for (const key of stored) await put(user, key, 1);
    await fc.assert(
      fc.asyncProperty(word, fc.integer({ min: 1, max: 12 }), async (prefix, limit) => {
        const found = await listAll(user, `prefix=${encodeURIComponent(prefix)}&limit=${limit}`);
        const expected = [...stored].filter((key) => key.startsWith(prefix));
        expect(found.toSorted()).toEqual(expected.toSorted());
      }),
      { numRuns: 40 },
    );
  });

  it("refuse a cursor that they did not hand out", async () => {
    const user = newUser();
    for (const cursor of ["nonsense", "", "bnVsbA", "WzFd", "W10"]) {
      const answer = await call(`/v1/users/${user}/kv?cursor=${cursor}`);
      expect(answer.status).toBe(400);
      expect(answer.body.error.code).toBe("invalid_cursor");
    }
  });
});

it("refuses a byte order mark, which would stand before the value for ever", async () => {
  const raw = new Uint8Array([0xef, 0xbb, 0xbf, 0x31]);
  const answer = await call(at(newUser(), "k"), { method: "PUT", raw });
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe("invalid_json");
});
