// Coming back with everything.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { erased, eraseUser, ring } from "../../../erasure-calls.ts";
import { list, patch, remember, remembered } from "../../../memory-calls.ts";
import { append, fork, said, say, threadOf } from "../../../thread-calls.ts";
import { at, busyUser, DRINK, exportOf, importTo, linesOf } from "../../../transfer-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
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
      expect((await importTo(user, `${lines.slice(0, cut).join("\n")}\n`)).status).toBe(400);
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
    const parts = [rest.slice(0, first), rest.slice(first)].map((part) => [header, ...part].join("\n"));
    for (const part of parts) expect((await importTo(user, part, "part=true")).status).toBe(200);
    expect(await exportOf(user)).toBe(before);
  });

  it("of a whole export is to be of as many lines as its end tells, and of a part of no more", async () => {
    const user = newUser();
    for (const key of ["a", "b"]) await call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: 1 });
    const [header, a, b, end] = (await exportOf(user)).split("\n");
    const c = b?.replace('"b"', '"c"');
    const other = newUser();
    const send = (lines: (string | undefined)[], query = "") => importTo(other, lines.join("\n"), query);
    const refused = { status: 400, body: { error: { code: "invalid_request" } } };
    const missing = await send([header, b, end]);
    expect(missing).toMatchObject(refused);
    expect(missing.body.error.details).toEqual([
      { path: "line[3].lines", message: expect.stringMatching(/^is 4, but 3 lines came: .* missing/) },
    ]);
    // The former data is there.
    expect(await send([header, b, end], "part=true")).toMatchObject({
      status: 200,
      body: { complete: true, there: { entries: 1 } },
    });
    for (const query of ["", "part=true"])
      expect(await send([header, a, b, c, end], query)).toMatchObject(refused);
    expect((await send(["", header, "", a, b, end, ""])).body).toMatchObject({ complete: true, lines: 4 });
  });

  it("stores a memory once that comes twice, with what the second one has more", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "I moved to Lisbon" });
    await remember(user, { text: "I play the cello" });
    const early = (await exportOf(user)).trimEnd().split("\n").slice(1, -1);
    at(1000);
    await patch(user, id, { text: "I moved to Porto" });
    const [header = "", ...late] = (await exportOf(user)).trimEnd().split("\n");
    const other = newUser();
    const { body } = await importTo(
      other,
      [header, ...early, ...late.slice(0, -1), ...early].join("\n"),
      "part=true",
    );
    expect(body).toMatchObject({ imported: { memoryVersions: 3 }, there: { memoryVersions: 4 } });
    expect((await list(other)).map(({ text }) => text).toSorted()).toEqual([
      "I moved to Porto",
      "I play the cello",
    ]);
    expect(linesOf(await exportOf(other)).slice(1)).toEqual(linesOf(late.join("\n")));
  });

  it("brings no thread back that was deleted and is there for its fork, and says what it left out", async () => {
    const user = newUser();
    const origin = await threadOf(user, ["shared", "not shared"]);
    await call(`/v1/threads/${origin.id}/compactions`, { json: { summary: "both", to: 2 } });
    const branch = (await fork(origin.id, { at: 1 })).body;
    const before = await exportOf(user);
    await call(`/v1/threads/${origin.id}`, { method: "DELETE" });
    const { body } = await importTo(user, before);
    expect(body).toMatchObject({
      imported: {},
      there: { threads: 1, messages: 1 },
      leftOut: { threads: 1, messages: 1, compactions: 1 },
    });
    expect((await call(`/v1/threads/${origin.id}`)).status).toBe(404);
    expect(await said(branch.id)).toEqual(["shared"]);
    // An export that knows that it was deleted has nothing more.
    expect((await importTo(user, await exportOf(user))).body).toMatchObject({
      leftOut: {},
      there: { threads: 2 },
    });
  });

  describe("that broke off in a thread", () => {
    const half = async () => {
      const user = newUser();
      const { id } = await threadOf(user, ["one", "two", "three"]);
      for (const [from, to] of [
        [1, 1],
        [2, 3],
      ])
        await call(`/v1/threads/${id}/compactions`, { json: { summary: `from ${from}`, from, to } });
      const branch = (await fork(id, { at: 2 })).body;
      const whole = await exportOf(user);
      const lines = whole.trimEnd().split("\n");
      await eraseUser(user);
      const until = (what: string) => lines.slice(0, lines.findIndex((line) => line.includes(what)) + 1);
      return { user, id, branch, whole, until: (what: string) => importTo(user, until(what).join("\n")) };
    };

    it("does not bring back what was deleted since: the thread", async () => {
      const { user, id, branch, whole, until } = await half();
      await until(`"id":"${branch.id}"`);
      await call(`/v1/threads/${id}`, { method: "DELETE" });
      expect((await importTo(user, whole)).body.leftOut).toEqual({ threads: 1, messages: 1, compactions: 2 });
      expect((await call(`/v1/threads/${id}`)).status).toBe(404);
      expect(await said(branch.id)).toEqual(["one", "two"]);
    });

    it("does not bring back what was deleted since: a message", async () => {
      const { user, id, whole, until } = await half();
      await until('"two"');
      await call(`/v1/threads/${id}/messages/1`, { method: "DELETE" });
      expect((await importTo(user, whole)).body.leftOut).toEqual({ messages: 2, compactions: 2 });
      expect(await said(id)).toEqual(["two"]);
    });

    it("does not bring back what was deleted since: a compaction", async () => {
      const { user, id, whole, until } = await half();
      await until("from 1");
      const [{ id: compaction }] = (await call(`/v1/threads/${id}/compactions`)).body.items;
      await call(`/v1/threads/${id}/compactions/${compaction}`, { method: "DELETE" });
      expect((await importTo(user, whole)).body.leftOut).toEqual({ compactions: 2 });
      expect(await said(id, "view=compacted")).toEqual(["one", "two", "three"]);
    });

    it("is gone on with after another import has come to its end, and after something was said", async () => {
      const { user, id, whole, until } = await half();
      await until('"one"');
      const other = newUser();
      await threadOf(other, ["another"]);
      await call(`/v1/users/${other}/kv/k`, { method: "PUT", json: 1 });
      expect((await importTo(user, await exportOf(other))).body.complete).toBe(true);
      await append(id, [say("on")]);
      expect((await importTo(user, whole)).body).toMatchObject({ complete: true, leftOut: {} });
      expect(await said(id)).toEqual(["one", "two", "three", "on"]);
    });

    it("stays as it is where a later export of it comes, whose messages would not fit", async () => {
      const user = newUser();
      const { id } = await threadOf(user, ["one", "two"]);
      const early = (await exportOf(user)).split("\n").slice(0, 3);
      await append(id, [say("three")]);
      const late = await exportOf(user);
      await eraseUser(user);
      await importTo(user, early.join("\n"));
      expect(await importTo(user, late)).toMatchObject({
        status: 200,
        body: { there: { threads: 1, messages: 1 }, leftOut: { messages: 2 } },
      });
      expect(await said(id)).toEqual(["one"]);
    });
  });

  it("gives threads and named memories of another user ids of their own, and says so", async () => {
    const { user, branch } = await busyUser();
    const other = newUser();
    const { body } = await importTo(other, await exportOf(user));
    const [from, to] = [await userHash(user), await userHash(other)];
    expect(body.threadIds).toEqual({ from, to });
    expect(await said(branch.id.replace(from, to))).toEqual(["one", "three", "five"]);
    // The same fact is the same fact there: it is superseded, not there twice.
    await remember(other, { ...DRINK, object: "wine" });
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
    const done = importTo(user, `${lines.join("\n")}\n`, "part=true").finally(() => {
      importing.over = true;
    });
    let answered = 0;
    while (!importing.over) {
      expect((await call("/health")).status).toBe(200);
      if (!importing.over) answered++;
      // Nothing in such a call waits for an event: the import would not have its turn.
      await scheduler.wait(1);
    }
    expect((await done).body.imported).toEqual({ threads: 1, messages: 1500, entries: 1500 });
    // One between every few calls of the object, at the least.
    expect(answered).toBeGreaterThan(5);
  });
});
