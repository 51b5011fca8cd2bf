import { describe, expect, it } from "vitest";
import { type Answer, call, newUser, tokenWith } from "../../call.ts";

const livesIn = (object: string) => ({ subject: "user", predicate: "lives in", object });
const listed = async (user: string, status = "active") =>
  (await call(`/v1/users/${user}/memories?status=${status}`)).body.items;

/** Remembers with a trust, as a header lowers it. */
const remember = (user: string, memory: object, trust?: string) =>
  call(`/v1/users/${user}/memories`, { json: memory, ...(trust && { headers: { "Cairn-Trust": trust } }) });

describe("the trust of a memory", () => {
  it("is that of the token, and a header can only lower it", async () => {
    const user = newUser();
    const own = await tokenWith({ user });
    const agent = await tokenWith({ user, trust: "model" });
    const written = async (text: string, token: string | undefined, header?: string) => {
      const headers: Record<string, string> = header === undefined ? {} : { "Cairn-Trust": header };
      const options = { json: { text }, headers, ...(token !== undefined && { token }) };
      return (await call(`/v1/users/${user}/memories`, options)).body.trust;
    };
    expect(await written("a", undefined)).toBe("operator");
    expect(await written("b", own)).toBe("user");
    expect(await written("c", agent)).toBe("model");
    expect(await written("d", own, "tool")).toBe("tool");
    expect(await written("e", agent, "user")).toBe("model");
  });

  it("is a model's for what an extractor found, unless the token names one", async () => {
    const user = newUser();
    const found = { ...livesIn("Porto"), source: { extractor: "my-model" } };
    const tokens = { own: await tokenWith({ user }), vouching: await tokenWith({ user, trust: "user" }) };
    const write = (path: string, json: object, token?: string) =>
      call(`/v1/users/${user}/memories${path}`, { json, ...(token !== undefined && { token }) });
    expect((await write("", found)).body.trust).toBe("model");
    expect((await write("", found, tokens.own)).body.trust).toBe("model");
    const many = await write("/batch", { memories: [found, livesIn("Lisbon")] }, tokens.own);
    expect(many.body.items.map(({ memory }: Answer["body"]) => memory.trust)).toEqual(["model", "user"]);
    const [{ memory }] = many.body.items.slice(1);
    expect((await write("", { ...found, object: "Faro" }, tokens.own)).body).toMatchObject({
      status: "quarantined",
      conflictsWith: memory.id,
    });
    expect((await write("", { ...found, object: "Faro" }, tokens.vouching)).body).toMatchObject({
      status: "active",
      trust: "user",
    });
    expect((await remember(user, { ...found, object: "Rome" }, "tool")).body.trust).toBe("tool");
  });

  it("names the token and the adapter, and refuses headers that it cannot read", async () => {
    const user = newUser();
    const adapter = { "Cairn-Adapter": "ai-sdk/7" };
    const { body } = await call(`/v1/users/${user}/memories`, { json: { text: "x" }, headers: adapter });
    expect(body.writtenBy).toEqual({ tokenId: expect.any(String), adapter: "ai-sdk/7" });
    for (const [name, value] of [
      ["Cairn-Trust", "god"],
      ["Cairn-Adapter", "two words"],
    ] as const) {
      const refused = await call(`/v1/users/${user}/memories`, {
        json: { text: "y" },
        headers: { [name]: value },
      });
      expect(refused.status).toBe(400);
      expect(refused.body.error.details[0].path).toBe(`header.${name}`);
    }
    expect((await remember(user, { text: "z", trust: "user" })).status).toBe(400);
  });

  it("holds a fact against a writer of a lower trust, whose fact waits in quarantine", async () => {
    const user = newUser();
    const { body: stored } = await remember(user, livesIn("Lisbon"));
    const { status, body: waiting } = await remember(user, livesIn("Porto"), "model");
    expect(status).toBe(201);
    expect(waiting).toMatchObject({
      status: "quarantined",
      trust: "model",
      conflictsWith: stored.id,
      reasons: ["conflicts_with_higher_trust"],
    });
    expect(await listed(user)).toMatchObject([{ id: stored.id, version: stored.version, object: "Lisbon" }]);
    const again = await remember(user, livesIn("Porto"), "model");
    expect(again.body).toMatchObject({ id: waiting.id, version: waiting.version });
    const released = await call(`/v1/users/${user}/memories/${waiting.id}/release`, { json: {} });
    expect(released.body).toMatchObject({ id: stored.id, object: "Porto", trust: "operator" });
    expect(released.body.conflictsWith).toBeUndefined();
    expect(await listed(user, "quarantined")).toEqual([]);
  });

  it("lets an equal or a higher trust supersede", async () => {
    const user = newUser();
    await remember(user, livesIn("Lisbon"), "tool");
    expect((await remember(user, livesIn("Porto"), "model")).body).toMatchObject({
      status: "active",
      trust: "model",
    });
    expect((await remember(user, livesIn("Faro"), "model")).body).toMatchObject({ status: "active" });
    expect((await remember(user, livesIn("Braga"))).body).toMatchObject({
      status: "active",
      trust: "operator",
    });
    expect(await listed(user)).toMatchObject([{ object: "Braga" }]);
  });

  it("adds only a source where a lower trust says the same", async () => {
    const user = newUser();
    const { body: stored } = await remember(user, {
      ...livesIn("Lisbon"),
      tags: ["a"],
      source: { message: 1 },
    });
    const { body } = await remember(
      user,
      {
        ...livesIn("lisbon"),
        tags: ["b"],
        score: 0.1,
        validFrom: stored.validFrom - 1000,
        source: { message: 2 },
      },
      "model",
    );
    expect(body).toMatchObject({
      id: stored.id,
      tags: ["a"],
      trust: "operator",
      validFrom: stored.validFrom,
    });
    expect(body.score).toBeUndefined();
    expect(body.sources).toEqual([{ message: 1 }, { message: 2 }]);
  });

  it("rises where a higher trust says the same", async () => {
    const user = newUser();
    await remember(user, livesIn("Lisbon"), "model");
    expect((await remember(user, livesIn("Lisbon"))).body).toMatchObject({ trust: "operator" });
  });

  it("holds a procedure, a key and an external id", async () => {
    const user = newUser();
    const memories = [
      { kind: "procedure", title: "deploy", text: "one" },
      { key: "car", text: "one" },
      { externalId: "x", text: "one" },
    ];
    for (const memory of memories) {
      const { body: stored } = await remember(user, memory);
      const { body: waiting } = await remember(user, { ...memory, text: "two" }, "model");
      expect(waiting).toMatchObject({ status: "quarantined", conflictsWith: stored.id });
    }
    expect((await listed(user)).map(({ text }: { text: string }) => text)).toEqual(["one", "one", "one"]);
  });

  it("refuses a change and a release by a lower trust", async () => {
    const user = newUser();
    const { body: stored } = await remember(user, livesIn("Lisbon"));
    const headers = { "Cairn-Trust": "model" };
    const path = `/v1/users/${user}/memories/${stored.id}`;
    const patched = await call(path, { method: "PATCH", json: { object: "Porto" }, headers });
    expect([patched.status, patched.body.error.code]).toEqual([403, "trust_too_low"]);
    const restored = await call(`${path}/restore`, { json: { version: stored.version }, headers });
    expect(restored.body.error.code).toBe("trust_too_low");
    const { body: waiting } = await remember(user, livesIn("Porto"), "model");
    const released = await call(`/v1/users/${user}/memories/${waiting.id}/release`, { json: {}, headers });
    expect(released.body.error.code).toBe("trust_too_low");
  });

  it("filters a list", async () => {
    const user = newUser();
    await remember(user, { text: "a" });
    await remember(user, { text: "b" }, "tool");
    const { body } = await call(`/v1/users/${user}/memories?trust=tool&trust=import`);
    expect(body.items.map(({ text }: { text: string }) => text)).toEqual(["b"]);
    const forgotten = await call(`/v1/users/${user}/memories/forget`, {
      json: { filter: { trust: ["tool"] } },
    });
    expect(forgotten.body.count).toBe(1);
  });
});
