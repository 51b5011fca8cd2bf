// Threads that come back, or come in from elsewhere, where they are not just as they were.
import { runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, token } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { erased, eraseUser, objectOf, ring, rowsOf } from "../../../erasure-calls.ts";
import { list, remember } from "../../../memory-calls.ts";
import { append, fork, said, say, threadOf } from "../../../thread-calls.ts";
import { at, exportOf, importTo } from "../../../transfer-calls.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

const compact = async (id: string, from: number, to: number): Promise<number> =>
  (await call(`/v1/threads/${id}/compactions`, { json: { summary: `${from} to ${to}`, from, to } })).status;
const forget = (id: string, seq?: number) =>
  call(`/v1/threads/${id}${seq === undefined ? "" : `/messages/${seq}`}`, { method: "DELETE" });
/** The beginning of an export, so many lines of it, and all of it. */
async function exportedUpTo(user: string, lines: number) {
  const whole = await exportOf(user);
  return { whole, begun: whole.split("\n").slice(0, lines).join("\n") };
}

describe("an import of summaries", () => {
  it("takes in those that were summed up again, as they were", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2", "3", "4"]);
    for (const [from, to] of [
      [1, 2],
      [3, 4],
      [1, 4],
    ] as const) {
      at(1000);
      expect(await compact(id, from, to)).toBe(201);
    }
    await remember(user, { text: "I like tea" });
    const whole = await exportOf(user);
    await erased(user, (await eraseUser(user)).body.id);
    const { body } = await importTo(user, whole);
    expect(body).toMatchObject({ complete: true, imported: { compactions: 3, memoryVersions: 1 } });
    expect(await exportOf(user)).toBe(whole);
    expect(await said(id, "view=compacted")).toEqual(["1 to 4"]);
  });

  it("leaves one out that cuts through one that was made here since", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2", "3", "4"]);
    await compact(id, 2, 4);
    await compact(id, 1, 4);
    await remember(user, { text: "I like tea" });
    const { whole, begun } = await exportedUpTo(user, 5);
    await erased(user, (await eraseUser(user)).body.id);
    await importTo(user, begun, "part=true");
    expect(await compact(id, 1, 3)).toBe(201);
    expect((await importTo(user, whole)).body).toMatchObject({
      complete: true,
      imported: { messages: 1, compactions: 1, memoryVersions: 1 },
      leftOut: { compactions: 1 },
    });
    expect(await said(id, "view=compacted")).toEqual(["1 to 4"]);
  });
});

describe("an import of forks", () => {
  it("leaves what a fork shows as it is, also where a thread here does not go as far as it shares", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2"]);
    const early = await exportOf(user);
    await append(id, [say("3"), say("4"), say("5")]);
    const branch = (await fork(id)).body;
    const late = await exportOf(user);
    const other = newUser();
    await importTo(other, early);
    expect((await importTo(other, late)).body).toMatchObject({
      imported: { threads: 1 },
      leftOut: { messages: 3 },
    });
    const [from, to] = [await userHash(user), await userHash(other)];
    const [there, branchThere] = [id, branch.id].map((one) => one.replace(from, to));
    expect((await append(there, [say("said here")])).body).toMatchObject({ firstSeq: 6, length: 3 });
    expect(await said(there)).toEqual(["1", "2", "said here"]);
    // It shares the messages that were there.
    expect(await said(branchThere)).toEqual(["1", "2"]);
    expect((await call(`/v1/threads/${branchThere}`)).body.length).toBe(2);
  });

  it("tells how long a fork of a thread is that it goes on with", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2", "3"]);
    const { whole, begun } = await exportedUpTo(user, 3);
    await erased(user, (await eraseUser(user)).body.id);
    await importTo(user, begun, "part=true");
    await append(id, [say("on")]);
    const branch = (await fork(id)).body;
    const twig = (await fork(branch.id, { at: 1 })).body;
    expect((await importTo(user, whole)).body.complete).toBe(true);
    for (const [thread, texts] of [
      [id, ["1", "2", "3", "on"]],
      [branch.id, ["1", "2", "3", "on"]],
      [twig.id, ["1"]],
    ]) {
      expect(await said(thread)).toEqual(texts);
      expect((await call(`/v1/threads/${thread}`)).body.length).toBe(texts.length);
    }
    expect((await append(branch.id, [say("further")], { expectedLength: 4 })).status).toBe(201);
  });

  it("shows nothing in a fork of such a thread that was deleted from the thread before", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "a secret", "3"]);
    const shows = (await fork(id)).body;
    await forget(id, 2);
    const { whole, begun } = await exportedUpTo(user, 3);
    await erased(user, (await eraseUser(user)).body.id);
    await importTo(user, begun, "part=true");
    await append(id, [say("on")]);
    const branch = (await fork(id)).body;
    expect((await importTo(user, whole)).body.complete).toBe(true);
    for (const [thread, texts] of [
      [id, ["1", "3", "on"]],
      [branch.id, ["1", "3", "on"]],
      [shows.id, ["1", "a secret", "3"]],
    ]) {
      expect(await said(thread)).toEqual(texts);
      expect((await call(`/v1/threads/${thread}`)).body.length).toBe(texts.length);
    }
  });

  it("goes past what a fork hid of a message that is gone here", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2", "3"]);
    const branch = (await fork(id)).body;
    await forget(branch.id, 2);
    await remember(user, { text: "I like tea" });
    const whole = await exportOf(user);
    await forget(branch.id);
    await forget(id, 2);
    expect(await importTo(user, whole)).toMatchObject({ status: 200, body: { complete: true } });
    expect(await said(branch.id)).toEqual(["1", "3"]);
    expect((await call(`/v1/threads/${branch.id}`)).body.length).toBe(2);
  });
});

describe("an import under which a thread is deleted", () => {
  it("leaves the rest of the thread out, and its forks, and goes on", async () => {
    const user = newUser();
    const { id } = await threadOf(
      user,
      Array.from({ length: 600 }, (_, n) => `${n + 1}`),
    );
    await compact(id, 1, 2);
    const branch = (await fork(id)).body;
    await append(branch.id, [say("on")]);
    const twig = (await fork(branch.id)).body;
    await threadOf(user, ["other"]);
    await remember(user, { text: "I like tea" });
    const whole = await exportOf(user);
    const lines = whole.split("\n");
    await erased(user, (await eraseUser(user)).body.id);
    const encoder = new TextEncoder();
    let n = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const line = lines[n++];
        if (line === undefined) return controller.close();
        if (n === 400) await forget(id);
        controller.enqueue(encoder.encode(`${line}\n`));
      },
    });
    const answer = await importTo(user, body);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        complete: true,
        imported: { memoryVersions: 1 },
        leftOut: { threads: 2, compactions: 3 },
      },
    });
    const { imported, leftOut } = answer.body;
    expect(imported.messages + leftOut.messages).toBe(602);
    for (const one of [id, branch.id, twig.id]) expect((await call(`/v1/threads/${one}`)).status).toBe(404);
    // Another import brings it.
    expect((await importTo(user, whole)).body.leftOut).toEqual({});
    expect(await said(twig.id)).toHaveLength(601);
  });
});

describe("a later export of a thread that an import began", () => {
  it("leaves what was said here as it is, and says that it is another message", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2"]);
    const { begun } = await exportedUpTo(user, 3);
    await append(id, [say("3, there")]);
    const late = await exportOf(user);
    await erased(user, (await eraseUser(user)).body.id);
    await importTo(user, begun, "part=true");
    await append(id, [say("3, here")]);
    expect((await importTo(user, late)).body).toMatchObject({
      imported: { messages: 1 },
      there: { threads: 1, messages: 1 },
      leftOut: { messages: 1 },
    });
    expect(await said(id)).toEqual(["1", "2", "3, here"]);
    // Also where the thread is not being imported any more.
    expect((await importTo(user, late)).body).toMatchObject({
      imported: {},
      there: { messages: 2 },
      leftOut: { messages: 1 },
    });
  });
});

describe("an import that ends in an error", () => {
  const header = async (user: string) => ({
    format: "cairn-export",
    version: 1,
    userId: user,
    userHash: await userHash(user),
  });
  const ofNoThread = async (user: string) => ({
    type: "message",
    threadId: `${await userHash(user)}.019a0000-0000-7000-8000-000000000000`,
    seq: 1,
    createdAt: 1,
    message: say("x"),
  });

  it("has taken in the memories that stood before the wrong line", async () => {
    const user = newUser();
    await remember(user, { text: "I like tea" });
    const { begun } = await exportedUpTo(user, 2);
    await erased(user, (await eraseUser(user)).body.id);
    const bad = JSON.stringify(await ofNoThread(user));
    const memory = JSON.parse(begun.split("\n")[1] ?? "");
    const after = JSON.stringify({ ...memory, id: "later", text: "I like coffee" });
    const answer = await importTo(user, [begun, bad, after].join("\n"), "part=true");
    expect(answer.body.error.details[0].path).toBe("line[3].threadId");
    expect((await list(user)).map(({ text }) => text)).toEqual(["I like tea"]);
  });

  it("lists nobody as a user for whom nothing was taken in", async () => {
    const user = newUser();
    const lines = [await header(user), await ofNoThread(user)].map((line) => JSON.stringify(line));
    expect((await importTo(user, lines.join("\n"), "part=true")).status).toBe(400);
    at(60_000);
    for (let rung = 0; rung < 3; rung++) await ring(user);
    expect((await rowsOf(user)).users).toBe(0);
  });
});

describe("an import in parts", () => {
  const openThreads = async (user: string): Promise<number> =>
    runInDurableObject(
      await objectOf(user),
      (_, { storage }) => storage.sql.exec("SELECT n FROM threads WHERE importing = 1").toArray().length,
    );

  it("is at the end of a thread whose last line is a part's, and a later export leaves it as it is", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "2", "3"]);
    await threadOf(user, ["other"]);
    const lines = (await exportOf(user)).trimEnd().split("\n");
    await fork(id);
    at(1000);
    await forget(id, 2);
    await compact(id, 1, 3);
    const later = await exportOf(user);
    const other = newUser();
    await importTo(other, lines.slice(0, 5).join("\n"), "part=true");
    const rest = [...lines.slice(0, 2), ...lines.slice(5)].join("\n");
    expect((await importTo(other, rest, "part=true")).body).toMatchObject({
      complete: true,
      imported: { threads: 1, messages: 1 },
      there: { threads: 1 },
    });
    expect(await openThreads(other)).toBe(0);
    expect((await importTo(other, later)).body).toMatchObject({
      complete: true,
      leftOut: { compactions: 1 },
    });
    expect(await said(id.replace(await userHash(user), await userHash(other)))).toEqual(["1", "2", "3"]);
  });

  it("is at the end of a thread where memories come, also where the part ends among them", async () => {
    const user = newUser();
    await threadOf(user, ["1"]);
    for (const text of ["one", "two"]) await remember(user, { text });
    const { begun } = await exportedUpTo(user, 4);
    const other = newUser();
    await importTo(other, begun, "part=true");
    expect(await openThreads(other)).toBe(0);
  });
});

describe("an import of a crafted thread", () => {
  const crafted = async (user: string, lastSeq: number, ...more: object[]) => {
    const hash = await userHash(user);
    const id = `${hash}.019a0000-0000-7000-8000-000000000000`;
    const header = { format: "cairn-export", version: 1, userId: user, userHash: hash };
    const thread = { type: "thread", id, title: "t", lastSeq, createdAt: 1, updatedAt: 1 };
    const lines = [header, thread, ...more.map((line) => ({ threadId: id, ...line }))];
    const answer = await importTo(user, lines.map((line) => JSON.stringify(line)).join("\n"), "part=true");
    return { id, answer };
  };

  it("refuses a last seq that leaves no room behind it, for the next thread's begin there", async () => {
    const user = newUser();
    const { answer } = await crafted(user, 2 ** 31 - 1);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: "line[2].lastSeq" }] } },
    });
    const { id } = await crafted(user, 2 ** 30);
    const next = await threadOf(user, ["mine"]);
    expect((await append(id, [say("one"), say("two")])).body).toMatchObject({ firstSeq: 2 ** 30 + 1 });
    expect(await said(next.id)).toEqual(["mine"]);
  });

  it("refuses to hide what is behind its last message", async () => {
    const { answer } = await crafted(newUser(), 1, { type: "hidden", seq: 2 });
    expect(answer.body.error.details[0].path).toBe("line[3].seq");
  });
});

describe("an export under which messages go for all, comes back without what was deleted before it:", () => {
  /** The export of a user, with something done once it has told of a secret. */
  async function exportedWhile(user: string, act: () => Promise<unknown>): Promise<string> {
    const headers = { Authorization: `Bearer ${await token(user)}` };
    const { body } = await exports.default.fetch(
      new Request(`http://x/v1/users/${user}/export`, { headers }),
    );
    const decoder = new TextDecoder();
    let [text, told] = ["", false];
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (told || !text.includes("a secret")) continue;
      told = true;
      await act();
    }
    expect(told).toBe(true);
    return text;
  }
  const comesBack = async (user: string, exported: string) => {
    await erased(user, (await eraseUser(user)).body.id);
    expect((await importTo(user, exported)).body.complete).toBe(true);
    const again = await exportOf(user);
    await erased(user, (await eraseUser(user)).body.id);
    await importTo(user, again);
    expect(await exportOf(user)).toBe(again);
  };
  /** More than a page of an export. */
  const goOn = async (id: string) => {
    for (let i = 0; i < 4; i++) await append(id, [say("x".repeat(600_000))]);
  };
  const beginning = async (id: string) => (await said(id)).slice(0, 2);

  it.each(["the fork that shows it", "the thread"])(
    "a message of the thread's own, as %s goes",
    async (goes) => {
      const user = newUser();
      const { id } = await threadOf(user, ["1", "a secret", "3"]);
      await goOn(id);
      const branch = (await fork(id, { at: 3 })).body;
      await forget(id, 2);
      expect(await beginning(id)).toEqual(["1", "3"]);
      await comesBack(user, await exportedWhile(user, () => forget(goes === "the thread" ? id : branch.id)));
      expect(await beginning(id)).toEqual(["1", "3"]);
    },
  );

  it("a message that a fork shares", async () => {
    const user = newUser();
    const { id } = await threadOf(user, ["1", "a secret", "3"]);
    const branch = (await fork(id, { at: 3 })).body;
    const twig = (await fork(branch.id)).body;
    await goOn(id);
    for (const one of [branch.id, twig.id]) await forget(one, 2);
    await comesBack(user, await exportedWhile(user, () => forget(id, 2)));
    for (const one of [branch.id, twig.id]) {
      expect(await said(one)).toEqual(["1", "3"]);
      expect((await call(`/v1/threads/${one}`)).body.length).toBe(2);
    }
    expect((await append(branch.id, [say("4")], { expectedLength: 2 })).status).toBe(201);
    expect(await said((await fork(branch.id, { at: 3 })).body.id)).toEqual(["1", "3"]);
  });
});
