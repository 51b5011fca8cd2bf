// Coming back with everything.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../src/ids.ts";
import { call, newUser } from "../call.ts";
import { control, restore } from "../doubles/control.ts";
import { erased, eraseUser, objectOf, ring } from "../erasure-calls.ts";
import { list, patch, remember, remembered } from "../memory-calls.ts";
import { append, said, say, threadOf } from "../thread-calls.ts";
import { at, busyUser, exportOf, importTo, linesOf } from "../transfer-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = Date.now() + 24 * 3600_000));
afterEach(restore);

describe("an import", () => {
  it("changes nothing the second time, and says what was there", async () => {
    const { user } = await busyUser();
    const before = await exportOf(user);
    const { body } = await importTo(user, before);
    expect(body).toMatchObject({ imported: {}, complete: true });
    expect(body.there).toMatchObject({ threads: 6, entries: 2, memoryVersions: 8 });
    expect(await exportOf(user)).toBe(before);
  });

  it("goes on where one broke off, at whatever line", async () => {
    const { user } = await busyUser();
    const before = await exportOf(user);
    const lines = before.split("\n");
    for (const share of [0.2, 0.5, 0.8]) {
      await eraseUser(user);
      const cut = Math.floor(lines.length * share);
      await importTo(user, `${lines.slice(0, cut).join("\n")}\n`);
      expect((await importTo(user, before)).body.complete).toBe(true);
      expect(await exportOf(user)).toBe(before);
    }
  });

  it("can be sent in parts, each behind the first line", async () => {
    const { user } = await busyUser();
    const before = await exportOf(user);
    const [header = "", ...rest] = before.split("\n");
    const first = rest.findIndex((line) => line.includes('"five"')) + 1;
    await eraseUser(user);
    await importTo(user, [header, ...rest.slice(0, first)].join("\n"));
    await importTo(user, [header, ...rest.slice(first)].join("\n"));
    expect(await exportOf(user)).toBe(before);
  });

  it("gives threads and named memories of another user ids of their own, and says so", async () => {
    const { user, branch } = await busyUser();
    const other = newUser();
    const { body } = await importTo(other, await exportOf(user));
    const [from, to] = [await userHash(user), await userHash(other)];
    expect(body.threadIds).toEqual({ from, to });
    expect(await said(branch.id.replace(from, to))).toEqual(["one", "three", "five"]);
    // The same fact is the same fact there: it is superseded, not there twice.
    await remember(other, { subject: "I", predicate: "drink", object: "wine", scope: "home" });
    expect((await list(other, "scope=home")).map(({ text }) => text)).toEqual(["I drink wine"]);
    expect(await exportOf(other)).not.toContain(from);
    // Nothing of the first one's has changed.
    expect(await said(branch.id)).toEqual(["one", "three", "five"]);
  });

  it("leaves what is there as it is: an entry, a thread that went on, a memory with another history", async () => {
    const user = newUser();
    const thread = await threadOf(user, ["one"]);
    await call(`/v1/users/${user}/kv/k`, { method: "PUT", json: "old" });
    const memory = await remembered(user, { text: "I moved to Lisbon" });
    const before = await exportOf(user);
    await append(thread.id, [say("two")]);
    await call(`/v1/threads/${thread.id}/messages/1`, { method: "DELETE" });
    await call(`/v1/users/${user}/kv/k`, { method: "PUT", json: "new" });
    at(1000);
    await patch(user, memory.id, { text: "I moved to Porto" });
    expect((await importTo(user, before)).body.imported).toEqual({});
    expect(await said(thread.id)).toEqual(["two"]);
    expect((await call(`/v1/users/${user}/kv/k`)).body).toBe("new");
    expect((await list(user)).map(({ text }) => text)).toEqual(["I moved to Porto"]);
  });

  it("adds to a memory the versions that a later export has", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "I moved to Lisbon" });
    const early = await exportOf(user);
    at(1000);
    await patch(user, id, { text: "I moved to Porto" });
    const late = await exportOf(user);
    await eraseUser(user);
    await importTo(user, early);
    expect((await list(user)).map(({ text }) => text)).toEqual(["I moved to Lisbon"]);
    await importTo(user, late);
    expect((await list(user)).map(({ text }) => text)).toEqual(["I moved to Porto"]);
    expect(await exportOf(user)).toBe(late);
  });

  it("leaves out what has expired meanwhile, and says so", async () => {
    const user = newUser();
    await call(`/v1/users/${user}/kv/k?ttlMs=1000`, { method: "PUT", json: 1 });
    await remember(user, { text: "soon gone", expiresAt: (control.clockAt ?? 0) + 1000 });
    const before = await exportOf(user);
    await eraseUser(user);
    at(60_000);
    expect((await importTo(user, before)).body).toMatchObject({
      imported: {},
      expired: { entries: 1, memoryVersions: 1 },
    });
  });

  it("goes on after an outage of D1, without a memory lost or doubled", async () => {
    const user = newUser();
    for (const text of ["one", "two"]) await remember(user, { text });
    const before = await exportOf(user);
    for (const how of ["before", "after", "late"] as const) {
      await erased(user, (await eraseUser(user)).body.id);
      control.d1NextWrites = [how];
      expect((await importTo(user, before)).status).toBe(503);
      expect((await importTo(user, before)).status).toBe(200);
      expect(await exportOf(user)).toBe(before);
    }
  });

  it.each([
    ["memories", (user: string) => remember(user, { text: "the last" })],
    ["threads", (user: string) => threadOf(user, ["the last"])],
  ])("does not outlive an erasure of the user that begins under it, for its %s", async (_, last) => {
    const user = newUser();
    await call(`/v1/users/${user}/kv/k`, { method: "PUT", json: 1 });
    await last(user);
    const lines = (await exportOf(user)).trimEnd().split("\n");
    const other = newUser();
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const line = lines.shift();
        if (line === undefined) return controller.close();
        // A call of the object takes as many lines as this.
        if (line.includes('"entry"'))
          for (let i = 0; i < 250; i++)
            controller.enqueue(encoder.encode(`${line.replace('"k"', `"k${i}"`)}\n`));
        if (lines.length === 0) await eraseUser(other);
        controller.enqueue(encoder.encode(`${line}\n`));
      },
    });
    const answer = await importTo(other, body);
    expect(answer).toMatchObject({ status: 409, body: { error: { code: "erased_meanwhile" } } });
    expect(linesOf(await exportOf(other))).toHaveLength(2);
    await ring(other);
    const { items } = (await call("/v1/users?limit=1000")).body;
    expect(items.map(({ userId }: { userId: string }) => userId)).not.toContain(other);
    expect((await importTo(other, await exportOf(user))).status).toBe(200);
  });

  describe("refuses with the number of the line and the field,", () => {
    const header = async (user: string) =>
      JSON.stringify({ format: "cairn-export", version: 1, userId: user, userHash: await userHash(user) });
    const entry = (key: string, more: object = {}) =>
      JSON.stringify({
        type: "entry",
        key,
        version: "019a0000-0000-7000-8000-000000000000",
        updatedAt: 1,
        value: 1,
        ...more,
      });
    const thread = (id: string, more: object = {}) =>
      JSON.stringify({ type: "thread", id, title: "t", lastSeq: 1, createdAt: 1, updatedAt: 1, ...more });
    const uuid = "019a0000-0000-7000-8000-000000000000";
    const memory = (more: object) =>
      JSON.stringify({
        type: "memory",
        id: "m",
        version: 1,
        kind: "fact",
        status: "active",
        text: "x",
        createdAt: 1,
        updatedAt: 1,
        validFrom: 1,
        recordedAt: 1,
        ...more,
      });
    const hash = "A".repeat(22);

    it.each<[string, (own: string) => string, string, string]>([
      ["no JSON", () => "{", "invalid_json", "line[3]"],
      ["an unknown type", () => '{"type":"x"}', "invalid_request", "line[3].type"],
      ["an unknown field", () => entry("b", { x: 1 }), "invalid_request", "line[3].x"],
      ["a key that is too long", () => entry("x".repeat(1025)), "key_too_long", "line[3].key"],
      ["no value", () => entry("b", { value: undefined }), "invalid_request", "line[3].value"],
      ["a value twice", () => entry("b", { valueText: "1" }), "invalid_request", "line[3].value"],
      [
        "a text that is no JSON",
        () => entry("b", { value: undefined, valueText: "{" }),
        "invalid_request",
        "line[3].valueText",
      ],
      [
        "a value that is too large",
        () => entry("b", { value: "x".repeat(1024 * 1024) }),
        "value_too_large",
        "line[3].value",
      ],
      ["another user's thread", () => thread(`${hash}.${uuid}`), "invalid_request", "line[3].id"],
      [
        "a parent that is not there",
        (own) => thread(`${own}.${uuid}`, { parent: { threadId: `${own}.${uuid}`, seq: 1 } }),
        "invalid_request",
        "line[3].parent.threadId",
      ],
      [
        "a message of no thread",
        (own) =>
          JSON.stringify({
            type: "message",
            threadId: `${own}.${uuid}`,
            seq: 1,
            createdAt: 1,
            message: { role: "user", content: "x" },
          }),
        "invalid_request",
        "line[3].threadId",
      ],
      [
        "a message that is none",
        (own) =>
          JSON.stringify({
            type: "message",
            threadId: `${own}.${uuid}`,
            seq: 1,
            createdAt: 1,
            messageText: "[]",
          }),
        "invalid_request",
        "line[3].message",
      ],
      [
        "a second version without a first",
        () => memory({ version: 2 }),
        "invalid_request",
        "line[3].version",
      ],
      [
        "a version of the future",
        () => memory({ recordedAt: 9e12 }),
        "invalid_request",
        "line[3].recordedAt",
      ],
      [
        "a text that is too long",
        () => memory({ text: "x".repeat(32 * 1024 + 1) }),
        "text_too_long",
        "line[3].text",
      ],
      ["a field of another kind", () => memory({ title: "x" }), "invalid_request", "line[3].title"],
    ])("%s, and keeps what came before", async (_, bad, code, path) => {
      const user = newUser();
      const body = [await header(user), entry("a"), bad(await userHash(user)), entry("c")].join("\n");
      const answer = await importTo(user, body);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.body.error).toMatchObject({ code, details: [{ path }] });
      const keys = (await call(`/v1/users/${user}/kv`)).body.items.map(({ key }: { key: string }) => key);
      expect(keys).toEqual(["a"]);
    });

    it.each([
      ["nothing", "", "unsupported_format"],
      ["another format", '{"format":"x"}', "unsupported_format"],
      ["a later version", '{"format":"cairn-export","version":2}', "unsupported_format"],
      ["no JSON", "hello", "invalid_json"],
    ])("%s in place of an export", async (_, body, code) => {
      const answer = await importTo(newUser(), body === "" ? "\n" : body);
      expect(answer.body.error).toMatchObject({
        code,
        details: [{ path: expect.stringContaining("line[1]") }],
      });
    });

    it("a line that is too long, without reading on", async () => {
      const user = newUser();
      const long = new Uint8Array(17 * 1024 * 1024 + 1).fill(0x20);
      const body = new Blob([`${await header(user)}\n${entry("a")}\n`, long]);
      const answer = await importTo(user, body);
      expect(answer).toMatchObject({
        status: 413,
        body: { error: { code: "line_too_long", details: [{ path: "line[3]" }] } },
      });
    });
  });

  describe("of more than a user may hold", () => {
    const none = { entries: null, memories: null, threads: null, bytes: null };

    it.each([
      ["entries", 2, "quota_entries"],
      ["threads", 1, "quota_threads"],
      ["memories", 2, "quota_memories"],
    ] as const)(
      "of %s is refused with the line, and goes on when there is room",
      async (kind, most, code) => {
        const { user } = await busyUser();
        for (const key of ["x", "y", "z"])
          await call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: 1 });
        const before = await exportOf(user);
        const lines = linesOf(before);
        await eraseUser(user);
        control.quotas = { ...none, [kind]: most };
        const type = { entries: "entry", threads: "thread", memories: "memory" }[kind];
        const beginnings = lines.flatMap((line, i) =>
          line.type === type && !(line.version > 1) && line.deleted !== true ? [i + 1] : [],
        );
        const over = beginnings[most];
        const refused = await importTo(user, before);
        expect(refused).toMatchObject({
          status: 403,
          body: {
            error: {
              code,
              details: [{ path: `line[${over}]` }],
              message: expect.stringContaining(`${over}`),
            },
          },
        });
        const after = linesOf(await exportOf(user)).filter(
          (line) => line.type === type && line.deleted !== true,
        );
        expect(new Set(after.map(({ id, key }) => id ?? key)).size).toBe(most);
        control.quotas = none;
        expect(await importTo(user, before)).toMatchObject({ status: 200, body: { complete: true } });
        expect(await exportOf(user)).toBe(before);
      },
    );

    it("of bytes is refused with the line, and what came before it is there", async () => {
      const user = newUser();
      const value = "x".repeat(400_000);
      for (const key of ["a", "b", "c", "d"])
        await call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: value });
      const before = await exportOf(user);
      const other = newUser();
      const size = await runInDurableObject(
        await objectOf(other),
        (_, { storage }) => storage.sql.databaseSize,
      );
      control.quotas = { ...none, bytes: size + 1_000_000 };
      const refused = await importTo(other, before);
      expect(refused.body.error).toMatchObject({ code: "quota_bytes", details: [{ path: "line[4]" }] });
      expect((await call(`/v1/users/${other}/kv`)).body.items).toHaveLength(2);
    });
  });

  it("lets other calls through while it goes on", async () => {
    const user = newUser();
    const hash = await userHash(user);
    const threadId = `${hash}.019a0000-0000-7000-8000-000000000000`;
    const thread = { type: "thread", id: threadId, title: "t", lastSeq: 1500, createdAt: 1, updatedAt: 1 };
    const messages = Array.from({ length: 1500 }, (_, n) => ({
      type: "message",
      threadId,
      seq: n + 1,
      createdAt: 1,
      message: say(`word${n} `.repeat(500)),
    }));
    const entries = Array.from({ length: 1500 }, (_, n) => ({
      type: "entry",
      key: `k${n}`,
      version: crypto.randomUUID(),
      updatedAt: 1,
      value: `${n} `.repeat(1000),
    }));
    const header = { format: "cairn-export", version: 1, userId: user, userHash: hash };
    const lines = [header, thread, ...messages, ...entries].map((line) => JSON.stringify(line));
    const importing = { over: false };
    const done = importTo(user, `${lines.join("\n")}\n`).finally(() => {
      importing.over = true;
    });
    let answered = 0;
    while (!importing.over) {
      expect((await call("/health")).status).toBe(200);
      if (!importing.over) answered++;
    }
    expect((await done).body.imported).toEqual({ threads: 1, messages: 1500, entries: 1500 });
    // One between every few calls of the object, at the least.
    expect(answered).toBeGreaterThan(5);
  });

  it("takes no other type of body", async () => {
    const answer = await call(`/v1/users/${newUser()}/import`, { json: {} });
    expect(answer).toMatchObject({ status: 415, body: { error: { code: "unsupported_media_type" } } });
  });
});
