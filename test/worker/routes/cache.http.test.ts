import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { keyIn, namespaceOf } from "../../../src/domain/prompt-cache/keys.ts";
import { call } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";

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

describe("take", () => {
  it("answers the value, byte for byte, and forgets it", async () => {
    const key = newKey();
    const raw = '{"n": 12345678901234567890}';
    const written = await call(at(key), { method: "PUT", raw });
    const taken = await call(`${at(key)}/take`, { method: "POST" });
    expect(taken.status).toBe(200);
    expect(taken.text).toBe(raw);
    expect(taken.headers.get("ETag")).toBe(`"${written.body.version}"`);
    expect((await call(at(key))).status).toBe(404);
  });

  it("answers 404 for what is not there, has expired or was taken", async () => {
    const key = newKey();
    const take = () => call(`${at(key)}/take`, { json: {} });
    expect((await take()).body.error.code).toBe("not_found");
    await call(`${at(key)}?ttlSeconds=1`, { method: "PUT", json: 1 });
    control.clockAhead = 1_500;
    expect((await take()).status).toBe(404);
    await call(at(key), { method: "PUT", json: 1 });
    expect((await take()).status).toBe(200);
    expect((await take()).status).toBe(404);
  });

  it("lets one of concurrent takers win, with any value", async () => {
    for (const value of [{ run: 1 }, null]) {
      const key = newKey();
      await call(at(key), { method: "PUT", json: value });
      const takers = Array.from({ length: 20 }, () => call(`${at(key)}/take`, { method: "POST" }));
      const statuses = (await Promise.all(takers)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 404)).toHaveLength(19);
    }
  });
});

describe("a delete of one version", () => {
  it("drops that version", async () => {
    const key = newKey();
    const { version } = (await call(at(key), { method: "PUT", json: 1 })).body;
    expect((await call(`${at(key)}?version=${version}`, { method: "DELETE" })).status).toBe(204);
    expect((await call(at(key))).status).toBe(404);
  });

  it("does not drop a newer one", async () => {
    const key = newKey();
    const { version } = (await call(at(key), { method: "PUT", json: "old" })).body;
    await call(at(key), { method: "PUT", json: "new" });
    expect((await call(`${at(key)}?version=${version}`, { method: "DELETE" })).status).toBe(204);
    expect((await call(at(key))).body).toBe("new");
  });
});

describe("namespaces", () => {
  const named = (name: string) => ({ headers: { "Cairn-Namespace": name } });

  it("keep apart two apps with one token, and both from none", async () => {
    const key = newKey();
    await call(at(key), { method: "PUT", json: "none" });
    for (const app of ["one", "two"]) {
      expect((await call(at(key), named(app))).status).toBe(404);
      await call(at(key), { method: "PUT", json: app, ...named(app) });
    }
    for (const app of ["one", "two"]) expect((await call(at(key), named(app))).body).toBe(app);
    expect((await call(at(key))).body).toBe("none");
    await call(`${at(key)}/take`, { method: "POST", ...named("one") });
    await call(at(key), { method: "DELETE", ...named("two") });
    expect((await call(at(key))).body).toBe("none");
  });

  it("cannot be made to look like one another", () => {
    const part = fc.string({
      minLength: 1,
      maxLength: 6,
      unit: fc.constantFrom("a", ":", "/", "%", "3", "A", "*"),
    });
    const whole = fc.tuple(part, fc.option(part, { nil: undefined }), part);
    fc.assert(
      fc.property(whole, whole, (a, b) => {
        const name = ([user, app, key]: typeof a) => keyIn(namespaceOf(user, app), key);
        expect(name(a) === name(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
      { numRuns: 2000 },
    );
  });

  it.each(["", "caf\u00e9", "a\tb"])("are not named %o", async (name) => {
    const answer = await call(at(newKey()), named(name));
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("header.Cairn-Namespace");
  });

  it("are a header of every operation of the registry in the document", async () => {
    const { paths } = (await call("/openapi.json")).body;
    const registry = Object.entries<Record<string, { parameters: { name: string; in: string }[] }>>(
      paths,
    ).filter(([path]) => /^\/v1\/(cache|prompt-cache)\//.test(path));
    expect(registry).toHaveLength(6);
    for (const operation of registry.flatMap(([, methods]) => Object.values(methods)))
      expect(operation.parameters).toContainEqual(
        expect.objectContaining({ name: "Cairn-Namespace", in: "header" }),
      );
  });
});

it("takes a key that ends like one of its own paths", async () => {
  for (const key of ["a/lease", "a/take", "lease", "take"]) {
    const own = `${newKey()}/${key}`;
    await call(at(own), { method: "PUT", json: key });
    expect((await call(at(own))).body).toBe(key);
  }
});

describe("conditions", () => {
  const put = (key: string, json: unknown, headers: Record<string, string> = {}, query = "") =>
    call(`/v1/cache/${key}${query}`, { method: "PUT", json, headers });
  const drop = (key: string, headers: Record<string, string>, query = "") =>
    call(`/v1/cache/${key}${query}`, { method: "DELETE", headers });

  it("let a writer replace only the version that it has read, or create only", async () => {
    const key = newKey();
    const tag = (await put(key, 1, { "If-None-Match": "*" })).headers.get("ETag") ?? "";
    const second = await put(key, 2, { "If-None-Match": "*" });
    expect(second.status).toBe(412);
    expect(second.body.error.code).toBe("precondition_failed");
    expect((await put(key, 2, { "If-Match": tag })).status).toBe(200);
    expect((await put(key, 3, { "If-Match": tag })).status).toBe(412);
    expect((await call(`/v1/cache/${key}`)).body).toBe(2);
    const wrong = await put(key, 3, { "If-Match": "unquoted" });
    expect(wrong.body.error.details[0].path).toBe("header.If-Match");
  });

  it("that are not met end nobody's flight", async () => {
    const key = newKey();
    const { lease } = (await call(`/v1/cache/${key}/lease`, { json: { leaseMs: 60_000 } })).body;
    expect((await put(key, 1, { "If-Match": "*" })).status).toBe(412);
    expect((await put(key, 1, { "If-Match": "*" }, `?lease=${lease.id}`)).status).toBe(412);
    expect((await put(key, 1, { "If-None-Match": "*" }, `?lease=${lease.id}`)).status).toBe(200);
    expect((await put(key, 2, {}, `?lease=${lease.id}`)).status).toBe(409);
  });

  it("spare a reader the value that it has", async () => {
    const key = newKey();
    const tag = (await put(key, 1)).headers.get("ETag") ?? "";
    for (const query of ["", "?lease=1000"]) {
      const same = await call(`/v1/cache/${key}${query}`, { headers: { "If-None-Match": tag } });
      expect([same.status, same.text, same.headers.get("ETag")]).toEqual([304, "", tag]);
      const other = await call(`/v1/cache/${key}${query}`, { headers: { "If-None-Match": '"other"' } });
      expect(other.body).toBe(1);
      expect((await call(`/v1/cache/${key}${query}`, { headers: { "If-Match": '"other"' } })).status).toBe(
        412,
      );
    }
    expect((await call(`/v1/cache/${newKey()}`, { headers: { "If-None-Match": tag } })).status).toBe(404);
    const taken = await call(`/v1/cache/${key}/take`, { method: "POST", headers: { "If-None-Match": tag } });
    expect([taken.status, taken.body.error.code]).toEqual([400, "precondition_unsupported"]);
    expect((await call(`/v1/cache/${key}`)).body).toBe(1);
  });

  it("hold for deletes, and leave value and lease where they are not met", async () => {
    const key = newKey();
    const tag = (await put(key, 1)).headers.get("ETag") ?? "";
    expect((await drop(key, { "If-Match": '"other"' })).status).toBe(412);
    expect((await call(`/v1/cache/${key}`)).body).toBe(1);
    const both = await drop(key, { "If-Match": tag }, "?version=x");
    expect(both.status).toBe(400);
    expect(both.body.error.details[0].path).toBe("query.version");
    expect((await drop(key, { "If-Match": tag })).status).toBe(204);
    const { lease } = (await call(`/v1/cache/${key}/lease`, { json: { leaseMs: 60_000 } })).body;
    expect((await drop(key, { "If-Match": tag })).status).toBe(412);
    expect((await put(key, 2, {}, `?lease=${lease.id}`)).status).toBe(200);
  });
});
