// Files that lost lines, or have others in their place: nothing of them is lost for good.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { eraseUser, objectOf } from "../../../erasure-calls.ts";
import { said, say, threadOf } from "../../../thread-calls.ts";
import { busyUser, exportOf, importTo, linesOf } from "../../../transfer-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

const openThreads = async (user: string): Promise<number> =>
  runInDurableObject(
    await objectOf(user),
    (_, { storage }) => storage.sql.exec("SELECT n FROM threads WHERE importing = 1").toArray().length,
  );
const exported = async (user: string) => (await exportOf(user)).trimEnd().split("\n");
const wrongIn = (n: number, field: string) => ({
  status: 400,
  body: { error: { code: "invalid_request", details: [{ path: `line[${n}]${field}` }] } },
});

describe("an import of a file that lacks a line", () => {
  it("is refused, whichever it is, and the whole file brings back what it was", async () => {
    const { user } = await busyUser();
    const lines = await exported(user);
    const whole = lines.join("\n");
    for (let without = 0; without < lines.length; without++) {
      await eraseUser(user);
      expect((await importTo(user, lines.toSpliced(without, 1).join("\n"))).status).toBe(400);
      const { body } = await importTo(user, whole);
      expect(body).toMatchObject({ complete: true, leftOut: {} });
      // A thread whose line was missing begins last.
      expect((await exported(user)).toSorted()).toEqual(lines.toSorted());
      expect(await openThreads(user)).toBe(0);
    }
  });

  it("tells that a line is missing, and stays open until the whole file came, also where something is said", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2", "3"]);
    await threadOf(user, ["other"]);
    const lines = await exported(user);
    await eraseUser(user);
    const answer = await importTo(user, lines.toSpliced(3, 1).join("\n"));
    expect(answer).toMatchObject(wrongIn(7, ".lines"));
    const [{ message }] = answer.body.error.details;
    expect(message).toMatch(/^is 8, but 7 lines came: a line .* is missing/);
    expect(message).not.toContain("part");
    expect(await openThreads(user)).toBe(2);
    await call(`/v1/threads/${id}/messages`, { json: { messages: [say("said here")] } });
    expect((await importTo(user, lines.join("\n"))).body).toMatchObject({
      imported: { messages: 1 },
      leftOut: {},
    });
    expect(await said(id)).toEqual(["1", "2", "3", "said here"]);
    expect(await openThreads(user)).toBe(0);
  });

  it("leaves a message deleted that was deleted before the whole file came", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2", "3"]);
    const lines = await exported(user);
    await eraseUser(user);
    await importTo(user, lines.toSpliced(3, 1).join("\n"));
    await call(`/v1/threads/${id}/messages/1`, { method: "DELETE" });
    expect((await importTo(user, lines.join("\n"))).body.leftOut).toEqual({ messages: 2 });
    expect(await said(id)).toEqual(["3"]);
  });

  it("closes more threads than a call takes, once it is whole", async () => {
    const user = newUser();
    const [header = ""] = await exported(user);
    const { userHash } = JSON.parse(header);
    const threads = Array.from({ length: 600 }, (_, n) =>
      JSON.stringify({
        type: "thread",
        id: `${userHash}.019a0000-0000-7000-8000-${`${n}`.padStart(12, "0")}`,
        title: "t",
        lastSeq: 0,
        createdAt: 1,
        updatedAt: 1,
      }),
    );
    const end = JSON.stringify({ type: "end", lines: 602 });
    expect((await importTo(user, [header, ...threads].join("\n"))).status).toBe(400);
    expect(await openThreads(user)).toBe(600);
    expect((await importTo(user, [header, ...threads, end].join("\n"))).status).toBe(200);
    expect(await openThreads(user)).toBe(0);
  });
});

describe("an import that is cut off", () => {
  it.each([1, 2, 4])("behind line %i is refused; of a part it is not", async (count) => {
    const user = newUser();
    await threadOf(user, ["1", "2", "3"]);
    const lines = await exported(user);
    const other = newUser();
    const send = (query = "") => importTo(other, lines.slice(0, count).join("\n"), query);
    const answer = await send();
    expect(answer).toMatchObject(wrongIn(count + 1, ""));
    expect(answer.body.error.details[0].message).toContain("is missing");
    expect(linesOf(await exportOf(other))).toHaveLength(count + 1);
    expect(await send("part=true")).toMatchObject({ status: 200, body: { complete: false } });
  });
});

describe("an import of a file with a line in the place of another", () => {
  const aThread = async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2", "3"]);
    for (const to of [1, 2])
      await call(`/v1/threads/${id}/compactions`, { json: { summary: `to ${to}`, from: 1, to } });
    await threadOf(user, ["other"]);
    for (const key of ["a", "b"]) await call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: 1 });
    const lines = await exported(user);
    await eraseUser(user);
    return { user, id, lines };
  };

  it.each<[string, number, number, string]>([
    ["a thread", 2, 8, ".id"],
    ["a message", 4, 5, ".seq"],
    ["a message before another", 3, 5, ".seq"],
    ["a compaction", 6, 7, ".id"],
    ["an entry", 10, 11, ".key"],
  ])("names the line where %s comes twice, and the right file brings all", async (_, from, to, field) => {
    const { user, lines } = await aThread();
    const twice = lines.with(to - 1, lines[from - 1] ?? "");
    expect(await importTo(user, twice.join("\n"))).toMatchObject(wrongIn(to, field));
    expect((await importTo(user, lines.join("\n"))).body).toMatchObject({ complete: true, leftOut: {} });
    expect(await exported(user)).toEqual(lines);
  });

  it.each(["", "part=true"])("refuses a message that was moved behind another thread (%s)", async (query) => {
    const { user, lines } = await aThread();
    const [moved = ""] = lines.slice(3, 4);
    const body = lines.toSpliced(3, 1).toSpliced(8, 0, moved).join("\n");
    expect(await importTo(user, body, query)).toMatchObject(wrongIn(9, ".threadId"));
  });
});

it.each(["9007199254740993", String(2n ** 60n)])(
  "refuses metadata with %s, as the API does",
  async (number) => {
    const user = newUser();
    const given = { text: "a heron", metadata: { n: 7 } };
    expect((await call(`/v1/users/${user}/memories`, { json: given })).status).toBe(201);
    const lines = await exported(user);
    const changed = lines.map((line) => line.replace('"n":7', `"n":${number}`)).join("\n");
    expect(changed).toContain(number);
    expect(await importTo(newUser(), changed)).toMatchObject(wrongIn(2, ".metadata"));
  },
);
