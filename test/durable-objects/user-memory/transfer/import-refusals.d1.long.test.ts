// Lines that an import does not take.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { eraseUser, objectOf } from "../../../erasure-calls.ts";
import { busyUser, exportOf, importTo, linesOf } from "../../../transfer-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

describe("an import", () => {
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
      ["a list", () => "[]", "invalid_request", "line[3]"],
      [
        "a number that is too large",
        (own) => JSON.stringify({ type: "hidden", threadId: `${own}.${uuid}`, seq: 1e300 }),
        "invalid_request",
        "line[3].seq",
      ],
      ["an unknown type", () => '{"type":"x"}', "invalid_request", "line[3].type"],
      ["an unknown field", () => entry("b", { x: 1 }), "invalid_request", "line[3].x"],
      ["a key that is too long", () => entry("x".repeat(1025)), "limit_exceeded", "line[3].key"],
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
        "a memory that was updated before it was created",
        () => memory({ createdAt: 2 }),
        "invalid_request",
        "line[3].updatedAt",
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
        "limit_exceeded",
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
      const answer = await importTo(newUser(), body);
      expect(answer.body.error).toMatchObject({
        code,
        details: [{ path: expect.stringContaining("line[1]") }],
      });
    });

    it.each(["", "\n"])("an empty body (%j), and says so", async (body) => {
      const { details } = (await importTo(newUser(), body)).body.error;
      expect(details).toEqual([{ path: "line[1]", message: "is missing: the body is empty" }]);
    });

    it("a line that is too long, without reading on", async () => {
      const user = newUser();
      const long = new Uint8Array(17 * 1024 * 1024 + 1).fill(0x20);
      const body = new Blob([`${await header(user)}\n${entry("a")}\n`, long]);
      const answer = await importTo(user, body);
      expect(answer).toMatchObject({
        status: 413,
        body: { error: { code: "value_too_large", details: [{ path: "line[3]" }] } },
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

  it("takes no other type of body", async () => {
    const answer = await call(`/v1/users/${newUser()}/import`, { json: {} });
    expect(answer).toMatchObject({ status: 415, body: { error: { code: "unsupported_media_type" } } });
  });
});
