import type { MastraDBMessage } from "@mastra/core/agent";
import type { MemoryStorage } from "@mastra/core/storage";
import { describe, expect, it } from "vitest";
import { CairnMemoryStorage } from "../src/mastra.ts";
import { clientOf, newUser } from "./cairn.ts";

import { at, both, filled, idsOf, message, newStorage, once, tenMessages, thread } from "./mastra.ts";

const ten = once(filled);

describe("messages", () => {
  it("come back as they were saved, with every part and field", async () => {
    const storage = await newStorage();
    await storage.saveThread({ thread: thread("t") });
    const odd: MastraDBMessage = message("odd", 1, {
      content: {
        format: 2,
        parts: [
          { type: "reasoning", reasoning: "hm", details: [{ type: "text", text: "hm" }] },
          {
            type: "tool-invocation",
            toolInvocation: {
              state: "result",
              toolCallId: "c",
              toolName: "f",
              args: { a: 1 },
              result: { b: [2, null] },
            },
          },
          { type: "file", data: "aGk=", mimeType: "text/plain" },
        ],
        metadata: { deep: { er: [1] } },
        annotations: [{ x: 1 }],
      },
    });
    const { messages: saved } = await storage.saveMessages({ messages: [message("m0", 0), odd] });
    expect(saved).toEqual([message("m0", 0), odd]);
    const { messages } = await storage.listMessages({ threadId: "t" });
    expect(messages).toEqual([message("m0", 0), odd]);
  });

  it.each([
    [{}],
    [{ perPage: 3 }],
    [{ perPage: 3, page: 1 }],
    [{ perPage: 3, page: 3 }],
    [{ perPage: false as const }],
    [{ perPage: 0 }],
    [{ perPage: 4, orderBy: { field: "createdAt" as const, direction: "DESC" as const } }],
    [{ filter: { dateRange: { start: at(3), end: at(6) } } }],
    [{ filter: { dateRange: { start: at(3), end: at(6), startExclusive: true, endExclusive: true } } }],
    [{ include: [{ id: "m5", withPreviousMessages: 2, withNextMessages: 1 }], perPage: 0 }],
    [{ include: [{ id: "m1", withNextMessages: 1 }, { id: "m8" }], perPage: 2, page: 2 }],
    [{ include: [{ id: "u1", withNextMessages: 5 }], perPage: 1 }],
    [{ include: [{ id: "u1" }], perPage: 1, resourceId: "alice" }],
    [{ include: [{ id: "nowhere" }], perPage: 2 }],
    [{ resourceId: "bob" }],
    [{ includeTotal: false, perPage: 2 }],
  ])("are listed by %j as the reference lists them", async (args) => {
    const [ours, theirs] = await Promise.all(
      (await ten()).map(async (storage) => {
        const { messages, ...page } = await storage.listMessages({ threadId: "t", ...args });
        return [messages.map(({ id, threadId, createdAt }) => [id, threadId, createdAt]), page];
      }),
    );
    expect(ours).toEqual(theirs);
  });

  it("are listed of several threads, of a resource, by metadata, and by id", async () => {
    const [ours, theirs] = await both(async (storage) => {
      await filled(storage);
      await storage.updateMessages({
        messages: [{ id: "m3", content: { metadata: { kept: true } } }] as never,
      });
      return [
        idsOf(await storage.listMessages({ threadId: ["t", "u"], perPage: false })),
        idsOf(await storage.listMessagesByResourceId({ resourceId: "bob" })),
        idsOf(await storage.listMessagesByResourceId({ resourceId: "alice", perPage: 2, page: 1 })),
        idsOf(await storage.listMessages({ threadId: "t", filter: { metadata: { kept: true } } })),
        idsOf(await storage.listMessagesById({ messageIds: ["u2", "m4", "no"] })).toSorted(),
        await storage.listMessages({ threadId: "" }).catch((error: Error) => error.message),
        await storage.listMessages({ threadId: "t", page: -1 }).catch((error: Error) => error.message),
      ];
    });
    expect(ours).toEqual(theirs);
  });

  it("that are saved again are replaced, in their place, and those that say the same stay", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = await filled(new CairnMemoryStorage({ memory, user }));
    const grown = message("m3", 3, { content: { format: 2, parts: [{ type: "text", text: "grown" }] } });
    await storage.saveMessages({ messages: [...tenMessages.slice(0, 3), grown] });
    const { messages } = await storage.listMessages({ threadId: "t" });
    expect(messages).toEqual(tenMessages.map((one) => (one.id === "m3" ? grown : one)));
    const [cairnThread] = (await memory.threads.list(user)).items.filter(({ recordId }) => recordId === "t");
    expect(cairnThread?.length).toBe(10);
  });

  it("are updated field by field, and moved to another thread", async () => {
    const [ours, theirs] = await both(async (storage) => {
      await filled(storage);
      const first = await storage.updateMessages({
        messages: [
          { id: "m1", content: { metadata: { a: 1 } } },
          { id: "m1", content: { metadata: { b: 2 }, content: "changed" } },
          { id: "m2", role: "assistant" },
          { id: "no", role: "user" },
        ] as never,
      });
      await storage.updateMessages({ messages: [{ id: "m2", threadId: "u", resourceId: "bob" }] });
      return [
        first.map(({ id, role }) => [id, role]),
        (await storage.listMessagesById({ messageIds: ["m1"] })).messages.map(({ content }) => content),
        idsOf(await storage.listMessages({ threadId: "t" })),
        idsOf(await storage.listMessages({ threadId: "u" })),
        (await storage.getThreadById({ threadId: "t" }))?.updatedAt.getTime() !== at(0).getTime(),
      ];
    });
    const dedupe = (results: unknown) => {
      const [first, ...rest] = results as [unknown[], ...unknown[]];
      // The reference answers twice what is updated twice.
      return [[...new Map(first.map((one) => [JSON.stringify(one), one])).values()], ...rest];
    };
    expect(dedupe(ours)).toEqual(dedupe(theirs));
  });

  it("are deleted by id, and note it in their thread", async () => {
    const storage = await filled(await newStorage());
    const before = (await storage.getThreadById({ threadId: "t" }))?.updatedAt ?? at(0);
    await storage.deleteMessages(["m0", "m9", "u1", "no"]);
    expect(idsOf(await storage.listMessages({ threadId: "t" }))).toEqual(
      tenMessages.slice(1, 9).map(({ id }) => id),
    );
    expect(idsOf(await storage.listMessages({ threadId: "u" }))).toEqual(["u2"]);
    expect((await storage.getThreadById({ threadId: "t" }))?.updatedAt.getTime()).toBeGreaterThan(
      before.getTime(),
    );
    await storage.deleteMessages([]);
  });

  it.each([[[0, 1, 2, 3, 4, 5, 6, 7]], [[0, 5, 2, 7, 1, 6, 4, 3]], [[3, 3, 3, 3, 3, 3, 3, 3]]])(
    "that are the last of a thread are the same, counted or not, saved in the order %j",
    async (minutes) => {
      const storage = await newStorage();
      await storage.saveThread({ thread: thread("t") });
      for (const [n, minute] of minutes.entries())
        await storage.saveMessages({ messages: [message(`m${n}`, minute)] });
      await storage.saveMessages({ messages: [message("m6", minutes[6] ?? 0, { type: "grown" })] });
      const last = { threadId: "t", orderBy: { field: "createdAt", direction: "DESC" } } as const;
      for (const perPage of [1, 3, 7, 8, 50]) {
        const counted = await storage.listMessages({ ...last, perPage });
        const bounded = await storage.listMessages({ ...last, perPage, includeTotal: false });
        const times = (page: typeof counted) => page.messages.map(({ createdAt }) => createdAt);
        expect(times(bounded)).toEqual(times(counted));
        expect(bounded.hasMore).toBe(counted.hasMore);
      }
    },
  );

  it("keep their places when they change, also where all share a time", async () => {
    const user = newUser();
    const storage = await newStorage(user);
    await storage.saveThread({ thread: thread("t") });
    for (let n = 0; n < 6; n++) await storage.saveMessages({ messages: [message(`m${n}`, 3)] });
    const ids = ["m0", "m1", "m2", "m3", "m4", "m5"];
    const listed = async (more: object = {}) =>
      idsOf(await (await newStorage(user)).listMessages({ threadId: "t", ...more }));
    const newestFirst = { orderBy: { field: "createdAt", direction: "DESC" } } as const;
    // Several turns change the same message, by a save and by an update.
    for (const turn of [1, 2, 3])
      for (const id of ["m1", "m4"]) {
        await storage.saveMessages({ messages: [message(id, 3, { type: `turn ${turn}` })] });
        await storage.updateMessages({ messages: [{ id, type: `updated ${turn}` }] });
        expect(await listed()).toEqual(ids);
        expect(await listed(newestFirst)).toEqual(ids.toReversed());
        for (const perPage of [1, 2, 3, 5]) {
          const last = ids.toReversed().slice(0, perPage);
          expect(await listed({ ...newestFirst, perPage })).toEqual(last);
          expect(await listed({ ...newestFirst, perPage, includeTotal: false })).toEqual(last);
        }
        const include = [{ id: "m4", withPreviousMessages: 1, withNextMessages: 1 }];
        expect(await listed({ perPage: 0, include })).toEqual(["m3", "m4", "m5"]);
      }
    const [changed] = (await storage.listMessagesById({ messageIds: ["m1"] })).messages;
    expect(changed).toEqual(message("m1", 3, { type: "updated 3" }));
  });

  it("that are the last of a long thread are read without the others", async () => {
    const user = newUser();
    let bytes = 0;
    const storage = await newStorage(user, {
      fetch: async (request) => {
        const response = await fetch(request);
        bytes += (await response.clone().text()).length;
        return response;
      },
    });
    await storage.saveThread({ thread: thread("t") });
    const said = "x".repeat(10_000);
    const many = Array.from({ length: 200 }, (_, n) =>
      message(`n${n}`, n, { content: { format: 2, parts: [{ type: "text", text: said }] } }),
    );
    await storage.saveMessages({ messages: many });
    bytes = 0;
    const { messages, hasMore } = await storage.listMessages({
      threadId: "t",
      perPage: 10,
      includeTotal: false,
      orderBy: { field: "createdAt", direction: "DESC" },
    });
    expect(idsOf({ messages })).toEqual(
      many
        .slice(-10)
        .toReversed()
        .map(({ id }) => id),
    );
    expect(hasMore).toBe(true);
    // Each has its text as a part and as content.
    expect(bytes).toBeLessThan(25 * said.length);
  });

  describe("of which older ones come after newer ones", () => {
    const LAST = { threadId: "t", perPage: 1, orderBy: { field: "createdAt", direction: "DESC" } } as const;
    const lastOf = async (user: string) =>
      idsOf(await (await newStorage(user)).listMessages({ ...LAST, includeTotal: false }));
    const olds = Array.from({ length: 5 }, (_, n) => message(`old${n}`, n));
    const isAppend = ({ url, method }: Request) => method === "POST" && url.endsWith("/messages");
    /** Whether a request is the write of the thread's record. */
    const isNote = async (request: Request) =>
      /"op":"set","key":"mastra\/threads\//.test(
        request.method === "POST" ? await request.clone().text() : "",
      );

    it("end with the newest, also if the process dies at any write", async () => {
      for (let alive = 0, died = true; died; alive++) {
        const user = newUser();
        const storage = await newStorage(user);
        await storage.saveThread({ thread: thread("t") });
        await storage.saveMessages({ messages: [message("new", 100)] });
        let writes = 0;
        const dying = await newStorage(user, {
          retry: false,
          fetch: async (request) => {
            const isWrite = isAppend(request) || (await request.clone().text()).includes('"op":"set"');
            if (isWrite && writes++ >= alive) throw new TypeError("dead");
            return fetch(request);
          },
        });
        died = await dying.saveMessages({ messages: olds }).then(
          () => false,
          () => true,
        );
        await storage.saveMessages({ messages: olds });
        expect(await lastOf(user), `${alive} writes`).toEqual(["new"]);
      }
    });

    it.each(["before what it notes", "before what it appends"])(
      "end with the newest, of a writer that another one overtakes %s",
      async (place) => {
        for (const [slow, fast] of [
          [[message("new", 100)], olds],
          [olds, [message("new", 100)]],
        ] as const) {
          const user = newUser();
          const storage = await newStorage(user);
          await storage.saveThread({ thread: thread("t") });
          let overtaken: Promise<unknown> | undefined;
          const overtakenOne = await newStorage(user, {
            fetch: async (request) => {
              const isThere = place === "before what it notes" ? await isNote(request) : isAppend(request);
              if (isThere) await (overtaken ??= storage.saveMessages({ messages: [...fast] }));
              return fetch(request);
            },
          });
          await overtakenOne.saveMessages({ messages: [...slow] });
          expect(overtaken).toBeDefined();
          expect(await lastOf(user)).toEqual(["new"]);
        }
      },
    );
  });

  it("of a batch larger than one call are all there, in order", async () => {
    const storage = await newStorage();
    await storage.saveThread({ thread: thread("t") });
    const many = Array.from({ length: 1500 }, (_, n) => message(`n${n}`, n));
    await storage.saveMessages({ messages: many });
    expect(idsOf(await storage.listMessages({ threadId: "t", perPage: false }))).toEqual(
      many.map(({ id }) => id),
    );
  });

  it("that several save at once are there once each, and hold what one of them said", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storages = await Promise.all(Array.from({ length: 5 }, () => newStorage(user)));
    await storages[0]?.saveThread({ thread: thread("t") });
    const said = (text: string) =>
      message("same", 1, { content: { format: 2, parts: [{ type: "text", text }] } });
    await Promise.all(
      storages.map((storage, n) =>
        storage.saveMessages({ messages: [said(`by ${n}`), message(`own${n}`, 2)] }),
      ),
    );
    const page = await storages[0]?.listMessages({ threadId: "t" });
    expect(idsOf(page ?? { messages: [] }).toSorted()).toEqual([
      "own0",
      "own1",
      "own2",
      "own3",
      "own4",
      "same",
    ]);
    expect((await memory.threads.list(user)).items[0]?.length).toBe(6);
    await storages[1]?.saveMessages({ messages: [said("last")] });
    const { messages } = (await storages[2]?.listMessagesById({ messageIds: ["same"] })) ?? { messages: [] };
    expect(messages[0]).toEqual(said("last"));
  });

  it("without a thread are refused, and before their thread are kept for it", async () => {
    const storage = await newStorage();
    await expect(storage.saveMessages({ messages: [{ ...message("m", 0), threadId: "" }] })).rejects.toThrow(
      "threadId",
    );
    await storage.saveMessages({ messages: [message("m", 0)] });
    expect(await storage.getThreadById({ threadId: "t" })).toBeNull();
    await storage.saveThread({ thread: thread("t") });
    expect(idsOf(await storage.listMessages({ threadId: "t" }))).toEqual(["m"]);
  });
});

describe("a crash", () => {
  it("between a message and what tells where it is leaves it once, and gone when it is deleted", async () => {
    const user = newUser();
    const state = { broken: false };
    const memory = await clientOf(user, {
      retry: false,
      fetch: async (request) => {
        const isPlace = /"op":"set","key":"mastra\/messages\//.test(await request.clone().text());
        const isLost = state.broken && isPlace;
        return isLost ? new Response("", { status: 503 }) : fetch(request);
      },
    });
    const storage = new CairnMemoryStorage({ memory, user });
    await storage.saveThread({ thread: thread("t") });
    await storage.saveMessages({ messages: [message("m", 0)] });
    state.broken = true;
    const grown = message("m", 0, { content: { format: 2, parts: [{ type: "text", text: "grown" }] } });
    await expect(storage.saveMessages({ messages: [grown] })).rejects.toMatchObject({ status: 503 });
    state.broken = false;
    expect((await storage.listMessages({ threadId: "t" })).messages).toEqual([grown]);
    await storage.saveMessages({ messages: [grown] });
    expect((await storage.listMessages({ threadId: "t" })).messages).toEqual([grown]);
    await storage.deleteMessages(["m"]);
    expect((await storage.listMessages({ threadId: "t" })).messages).toEqual([]);
  });

  it("in the middle of a deletion leaves a thread that can be deleted again, or written to", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = await filled(new CairnMemoryStorage({ memory, user }));
    // As `deleteThread` does, before it deletes the thread's own entry.
    await memory.kv.deletePrefix(user, "mastra/messages/");
    for (const { id } of (await memory.threads.list(user)).items) await memory.threads.delete(id);
    expect(idsOf(await storage.listMessages({ threadId: "t" }))).toEqual([]);
    const last = { threadId: "t", orderBy: { field: "createdAt", direction: "DESC" } } as const;
    expect(idsOf(await storage.listMessages({ ...last, perPage: 2, includeTotal: false }))).toEqual([]);
    await storage.saveMessages({ messages: tenMessages });
    expect(idsOf(await storage.listMessages({ threadId: "t" }))).toHaveLength(10);
    await storage.updateThread({ id: "u", title: "Still there" });
    await storage.deleteThread({ threadId: "u" });
    expect((await storage.listThreads({})).total).toBe(1);
  });

  it("in the middle of a move leaves the message in one thread, at any write, and the same move again ends it", async () => {
    const moved = message("m0", 0, { threadId: "u", resourceId: "bob" });
    for (let alive = 0, died = true; died; alive++) {
      const user = newUser();
      const memory = await clientOf(user);
      const storage = await filled(new CairnMemoryStorage({ memory, user }));
      const idsIn = async (threadId: string) => idsOf(await storage.listMessages({ threadId }));
      let writes = 0;
      const dying = await newStorage(user, {
        retry: false,
        fetch: async (request) => {
          const isRead = request.method === "GET" || (await request.clone().text()).includes('"op":"get"');
          if (!isRead && writes++ >= alive) throw new TypeError("dead");
          return fetch(request);
        },
      });
      const move = (by: MemoryStorage) =>
        by.updateMessages({ messages: [{ id: "m0", threadId: "u", resourceId: "bob" }] });
      died = await move(dying).then(
        () => false,
        () => true,
      );
      const inBoth = [...(await idsIn("t")), ...(await idsIn("u"))];
      expect(inBoth.filter((id) => id === "m0")).toHaveLength(1);
      if (alive % 2 === 0) await move(storage);
      else await storage.saveMessages({ messages: [moved] });
      expect(await idsIn("t"), `${alive} writes`).toEqual(tenMessages.slice(1).map(({ id }) => id));
      expect(await idsIn("u")).toEqual(["m0", "u1", "u2"]);
      const [inT] = (await memory.threads.list(user)).items.filter(({ recordId }) => recordId === "t");
      expect(inT?.length).toBe(9);
      await storage.deleteThread({ threadId: "t" });
      expect((await storage.listMessagesById({ messageIds: ["m0"] })).messages).toEqual([moved]);
    }
  });

  it("before the old one of a moved message is deleted leaves it hidden, and the next reading deletes it", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = await filled(new CairnMemoryStorage({ memory, user }));
    const dying = await newStorage(user, {
      retry: false,
      fetch: (request) =>
        request.method === "DELETE" ? Promise.reject(new TypeError("dead")) : fetch(request),
    });
    const move = dying.updateMessages({ messages: [{ id: "m9", threadId: "u", resourceId: "bob" }] });
    await expect(move).rejects.toThrow("dead");
    const last = { orderBy: { field: "createdAt", direction: "DESC" }, perPage: 1 } as const;
    expect(idsOf(await storage.listMessages({ threadId: "t", ...last, includeTotal: false }))).toEqual([
      "m8",
    ]);
    expect(idsOf(await storage.listMessagesByResourceId({ resourceId: "bob" }))).toEqual(["u1", "u2", "m9"]);
    const lengths = async () => (await memory.threads.list(user)).items.map(({ length }) => length);
    await expect.poll(async () => (await lengths()).toSorted((a, b) => a - b)).toEqual([3, 9]);
  });

  it("of the server is no empty thread", async () => {
    let status = 0;
    const storage = await newStorage(newUser(), {
      retry: false,
      fetch: (request) => (status === 0 ? fetch(request) : new Response("", { status })),
    });
    await filled(storage);
    for (status of [429, 503]) {
      await expect(storage.getThreadById({ threadId: "t" })).rejects.toMatchObject({ status });
      await expect(storage.listMessages({ threadId: "t" })).rejects.toMatchObject({ status });
      await expect(storage.listThreads({})).rejects.toMatchObject({ status });
      await expect(storage.saveMessages({ messages: [message("x", 1)] })).rejects.toMatchObject({ status });
      await expect(storage.deleteThread({ threadId: "t" })).rejects.toMatchObject({ status });
    }
    status = 0;
    expect(idsOf(await storage.listMessages({ threadId: "t" }))).toHaveLength(10);
  });

  it("is what another user's token gets", async () => {
    const storage = new CairnMemoryStorage({ memory: await clientOf(newUser()), user: newUser() });
    await expect(storage.saveThread({ thread: thread("t") })).rejects.toMatchObject({ code: "not_found" });
    await expect(storage.getThreadById({ threadId: "t" })).rejects.toMatchObject({ code: "not_found" });
  });
});
