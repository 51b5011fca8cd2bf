import { afterEach, expect, it } from "vitest";
import { call } from "../call.ts";
import { control, restore } from "../doubles/control.ts";

afterEach(restore);

const newKey = () => `gemstack:ai:google-cache:${crypto.randomUUID()}`;
const at = (key: string) => `/v1/cache/${encodeURIComponent(key)}`;

it("sets, gets and forgets any JSON value", async () => {
  const key = newKey();
  expect((await call(at(key))).status).toBe(404);
  for (const value of [{ name: "cachedContents/1", expiresAt: 1 }, 0, false, "", null]) {
    const written = await call(at(key), { method: "PUT", json: value });
    const read = await call(at(key));
    expect(read.body).toEqual(value);
    expect(read.headers.get("ETag")).toBe(`"${written.body.version}"`);
  }
  expect((await call(at(key), { method: "DELETE" })).status).toBe(204);
  expect((await call(at(key))).status).toBe(404);
  expect((await call(at(key), { method: "DELETE" })).status).toBe(204);
});

it("counts the time to live in seconds", async () => {
  const key = newKey();
  await call(`${at(key)}?ttlSeconds=300`, { method: "PUT", json: 1 });
  control.clockAhead = 295_000;
  expect((await call(at(key))).body).toBe(1);
  control.clockAhead = 300_001;
  expect((await call(at(key))).status).toBe(404);
});

it.each(["0", "-1", "0.5", "x"])("refuses a time to live of %s seconds", async (ttl) => {
  const answer = await call(`${at(newKey())}?ttlSeconds=${ttl}`, { method: "PUT", json: 1 });
  expect(answer.status).toBe(400);
  expect(answer.body.error.details[0].path).toBe("query.ttlSeconds");
});
