import { Agent, type AgentConfig, type MastraDBMessage } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { MockMemory, type StorageThreadType } from "@mastra/core/memory";
import { InMemoryStore, MastraCompositeStore, MemoryStorage } from "@mastra/core/storage";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it, vi } from "vitest";
import { CairnMemoryStorage, cairnStorage } from "../../src/client/adapters/mastra.ts";
import type { CairnOptions } from "../../src/client/index.ts";
import { clientOf, newUser } from "./cairn.ts";

const newStorage = async (
  user = newUser(),
  client: Partial<CairnOptions> = {},
): Promise<CairnMemoryStorage> => new CairnMemoryStorage({ memory: await clientOf(user, client), user });

/** The SDK's own store. */
const reference = async (): Promise<MemoryStorage> => {
  const storage = await new InMemoryStore().getStore("memory");
  if (storage === undefined) throw new Error("it has one");
  return storage;
};

/** The same over both. */
const both = async (
  run: (storage: MemoryStorage) => Promise<unknown>,
): Promise<[ours: unknown, theirs: unknown]> => Promise.all([newStorage().then(run), reference().then(run)]);

const START = Date.UTC(2026, 0, 1);
const at = (minute: number): Date => new Date(START + minute * 60_000);

const thread = (id: string, more: Partial<StorageThreadType> = {}): StorageThreadType => ({
  id,
  resourceId: "alice",
  title: `Thread ${id}`,
  metadata: { topic: "travel" },
  createdAt: at(0),
  updatedAt: at(0),
  ...more,
});

const message = (id: string, minute: number, more: Partial<MastraDBMessage> = {}): MastraDBMessage => ({
  id,
  role: minute % 2 === 0 ? "user" : "assistant",
  type: "text",
  threadId: "t",
  resourceId: "alice",
  createdAt: at(minute),
  content: { format: 2, parts: [{ type: "text", text: `text of ${id}` }], content: `text of ${id}` },
  ...more,
});

const tenMessages = Array.from({ length: 10 }, (_, n) => message(`m${n}`, n));

const filled = async (storage: MemoryStorage): Promise<MemoryStorage> => {
  await storage.saveThread({ thread: thread("t") });
  await storage.saveThread({ thread: thread("u", { resourceId: "bob" }) });
  await storage.saveMessages({ messages: tenMessages });
  await storage.saveMessages({
    messages: [
      message("u1", 3, { threadId: "u", resourceId: "bob" }),
      message("u2", 4, { threadId: "u", resourceId: "bob" }),
    ],
  });
  return storage;
};

/** Ours and the reference, filled once for all tests that only read. */
const once = (fill: (storage: MemoryStorage) => Promise<unknown>) => {
  let pair: Promise<[MemoryStorage, MemoryStorage]> | undefined;
  const made = async (): Promise<[MemoryStorage, MemoryStorage]> => {
    const [ours, theirs] = [await newStorage(), await reference()];
    await fill(ours);
    await fill(theirs);
    return [ours, theirs];
  };
  return () => (pair ??= made());
};

const ten = once(filled);

const seven = once(async (storage) => {
  for (let n = 0; n < 7; n++)
    await storage.saveThread({
      thread: thread(`t${n}`, {
        resourceId: n % 2 ? "alice" : "bob",
        metadata: { topic: n % 3 ? "travel" : "food", n },
        createdAt: at(n),
        updatedAt: at(10 - n),
      }),
    });
});

const idsOf = ({ messages }: { messages: readonly { id: string }[] }): string[] =>
  messages.map(({ id }) => id);

describe("threads", () => {
  it("come back as they were saved, under the ids that Mastra gives them", async () => {
    const storage = await newStorage();
    expect(await storage.getThreadById({ threadId: "t" })).toBeNull();
    const ids = ["t", "../t", "#t", "a/b?c", "x".repeat(2000), "ы".repeat(200)];
    for (const id of ids) await storage.saveThread({ thread: thread(id) });
    for (const id of ids) expect(await storage.getThreadById({ threadId: id })).toEqual(thread(id));
    expect(await storage.getThreadById({ threadId: "t", resourceId: "alice" })).toEqual(thread("t"));
    expect(await storage.getThreadById({ threadId: "t", resourceId: "bob" })).toBeNull();
  });

  it("keep metadata larger than an entry", async () => {
    const storage = await newStorage();
    const workingMemory = "w".repeat(3_000_000);
    await storage.saveThread({ thread: thread("t", { metadata: { workingMemory } }) });
    expect((await storage.getThreadById({ threadId: "t" }))?.metadata).toEqual({ workingMemory });
  });

  it("change their title, their metadata, or both", async () => {
    const [ours, theirs] = await both(async (storage) => {
      await storage.saveThread({ thread: thread("t") });
      const results: unknown[] = [];
      for (const change of [
        { title: "New" },
        { metadata: { more: 1 } },
        { title: "", metadata: { more: 2 } },
      ]) {
        const { title, metadata, createdAt, updatedAt } = await storage.updateThread({ id: "t", ...change });
        results.push([title, metadata, createdAt, updatedAt > at(0)]);
      }
      const { title } = await storage.patchThread({ id: "t", metadata: { patched: true } });
      return [results, title, (await storage.getThreadById({ threadId: "t" }))?.metadata];
    });
    expect(ours).toEqual(theirs);
    await expect((await newStorage()).updateThread({ id: "no", title: "x" })).rejects.toThrow("not found");
  });

  it("lose no change of two at once, from different processes", async () => {
    const user = newUser();
    const storages = await Promise.all(Array.from({ length: 6 }, () => newStorage(user)));
    await storages[0]?.saveThread({ thread: thread("t", { metadata: { n: 0 } }) });
    await Promise.all(
      storages.map((storage) =>
        storage.updateThreadMetadata({ id: "t", update: ({ metadata }) => ({ n: Number(metadata?.n) + 1 }) }),
      ),
    );
    expect((await storages[0]?.getThreadById({ threadId: "t" }))?.metadata).toEqual({ n: 6 });
    expect(await storages[0]?.updateThreadMetadata({ id: "no", update: () => ({}) })).toBeNull();
    expect(
      await storages[0]?.updateThreadMetadata({ id: "t", resourceId: "bob", update: () => ({}) }),
    ).toBeNull();
  });

  it("are one Cairn thread, however many save one at once", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storages = await Promise.all(Array.from({ length: 5 }, () => newStorage(user)));
    await Promise.all(storages.map((storage) => storage.saveThread({ thread: thread("t") })));
    expect((await memory.threads.list(user)).items).toHaveLength(1);
    expect((await storages[0]?.listThreads({}))?.total).toBe(1);
  });

  it.each([
    [{}],
    [{ filter: { resourceId: "alice" } }],
    [{ filter: { metadata: { topic: "food" } } }],
    [{ filter: { resourceId: "alice", metadata: { topic: "travel", n: 3 } } }],
    [{ perPage: 2, page: 1 }],
    [{ perPage: 2, page: 4 }],
    [{ perPage: false as const }],
    [{ perPage: 0 }],
    [{ orderBy: { field: "updatedAt" as const, direction: "ASC" as const } }],
    [{ orderBy: { field: "createdAt" as const, direction: "ASC" as const }, perPage: 3 }],
  ])("are listed by %j as the reference lists them", async (args) => {
    const [ours, theirs] = await seven();
    expect(await ours.listThreads(args)).toEqual(await theirs.listThreads(args));
  });

  it("refuse pages and metadata that the reference refuses", async () => {
    const storage = await newStorage();
    await expect(storage.listThreads({ page: -1 })).rejects.toThrow("page");
    await expect(storage.listThreads({ filter: { metadata: { "a'b": 1 } } })).rejects.toThrow("metadata");
  });

  it("go with their messages, and leave nothing", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = await filled(new CairnMemoryStorage({ memory, user }));
    await storage.deleteThread({ threadId: "t" });
    expect(await storage.getThreadById({ threadId: "t" })).toBeNull();
    expect(idsOf(await storage.listMessages({ threadId: "t" }))).toEqual([]);
    expect(idsOf(await storage.listMessagesById({ messageIds: ["m1", "u1"] }))).toEqual(["u1"]);
    await storage.deleteThread({ threadId: "t" });
    await storage.deleteThread({ threadId: "u" });
    expect((await memory.threads.list(user)).items).toEqual([]);
    expect((await memory.kv.list(user)).items).toEqual([]);
  });

  it("can go to another resource, with their messages", async () => {
    const storage = await filled(await newStorage());
    await storage.updateThreadResourceId({ threadId: "t", resourceId: "carol" });
    expect((await storage.getThreadById({ threadId: "t" }))?.resourceId).toBe("carol");
    const { messages } = await storage.listMessages({ threadId: "t", resourceId: "carol", perPage: false });
    expect(messages).toEqual(tenMessages.map((one) => ({ ...one, resourceId: "carol" })));
  });

  it("are cloned with the messages that are wanted", async () => {
    const [ours, theirs] = await both(async (storage) => {
      await filled(storage);
      const source = { sourceThreadId: "t", newThreadId: "copy" };
      const { thread: copy, clonedMessages } = await storage.cloneThread({
        ...source,
        options: { messageLimit: 2, messageFilter: { endDate: at(5) } },
      });
      const whole = await storage.copyThread({
        sourceThreadId: "t",
        title: "Mine",
        resourceId: "bob",
        metadata: { a: 1 },
      });
      const again = await storage.copyThread(source).catch((error: Error) => error.message);
      const { messages } = await storage.listMessages({ threadId: whole.thread.id, resourceId: "bob" });
      return [
        copy.title,
        copy.resourceId,
        clonedMessages.map(({ content, threadId, createdAt }) => [content, threadId, createdAt]),
        [whole.thread.title, Object.keys(whole.thread.metadata ?? {}), Object.keys(whole.messageIdMap ?? {})],
        messages.map(({ content }) => content),
        again,
        idsOf(await storage.listMessages({ threadId: "t" })),
      ];
    });
    expect(ours).toEqual(theirs);
  });
});

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
    await vi.waitFor(async () => {
      const threads = (await memory.threads.list(user)).items;
      expect(threads.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([3, 9]);
    });
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

describe("resources", () => {
  it("keep working memory and metadata, updated field by field", async () => {
    const [ours, theirs] = await both(async (storage) => {
      const seen: unknown[] = [await storage.getResourceById({ resourceId: "r" })];
      const note = async () => {
        const resource = await storage.getResourceById({ resourceId: "r" });
        seen.push([resource?.workingMemory, resource?.metadata, resource?.createdAt instanceof Date]);
      };
      await storage.updateResource({ resourceId: "r", workingMemory: "likes tea" });
      await note();
      await storage.updateResource({ resourceId: "r", metadata: { a: 1 } });
      await note();
      await storage.updateResource({ resourceId: "r", workingMemory: "", metadata: { b: 2 } });
      await note();
      await storage.saveResource({
        resource: { id: "r", workingMemory: "anew", metadata: {}, createdAt: at(0), updatedAt: at(1) },
      });
      seen.push(await storage.getResourceById({ resourceId: "r" }));
      return seen;
    });
    expect(ours).toEqual(theirs);
  });
});

it("clears what is its own, and nothing else of the user", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  await memory.kv.set(user, "other", 1);
  await memory.threads.create(user, { title: "other" });
  const storage = await filled(new CairnMemoryStorage({ memory, user }));
  await storage.dangerouslyClearAll();
  expect((await memory.kv.list(user)).items.map(({ key }) => key)).toEqual(["other"]);
  expect((await memory.threads.list(user)).items.map(({ title }) => title)).toEqual(["other"]);
});

describe("other clients", () => {
  it("read the conversation in Cairn's thread, and find it", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = new CairnMemoryStorage({ memory, user });
    await storage.saveThread({ thread: thread("t") });
    const text = "I moved to Lisbon in March";
    await storage.saveMessages({
      messages: [message("m", 0, { content: { format: 2, parts: [{ type: "text", text }] } })],
    });
    const [cairnThread] = (await memory.threads.list(user)).items;
    expect(cairnThread).toMatchObject({ title: "Thread t", agent: "mastra", recordId: "t", length: 1 });
    const { items } = await memory.threads.read(cairnThread?.id ?? "");
    expect(items[0]?.message).toMatchObject({
      role: "user",
      id: "m",
      content: text,
      parts: [{ type: "text", text }],
    });
    const { hits } = await memory.recall(user, { query: "Lisbon" });
    expect(hits[0]).toMatchObject({ kind: "message", text, threadId: cairnThread?.id });
    await storage.updateThread({ id: "t", title: "Moving" });
    expect((await memory.threads.get(cairnThread?.id ?? ""))?.title).toBe("Moving");
  });

  it("leave a message as long as Cairn holds it, whose text is in its parts alone", async () => {
    const storage = await newStorage();
    const text = "x".repeat(8_000_000);
    const long = message("m", 0, { content: { format: 2, parts: [{ type: "text", text }] } });
    await storage.saveMessages({ messages: [long] });
    expect((await storage.listMessages({ threadId: "t" })).messages).toEqual([long]);
  });

  it("find what is more than a text in the parts, which no content stands for", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = new CairnMemoryStorage({ memory, user });
    const parts: MastraDBMessage["content"]["parts"] = [
      { type: "text", text: "Look:" },
      { type: "file", mimeType: "image/png", data: "AAAA" },
    ];
    await storage.saveMessages({ messages: [message("m", 0, { content: { format: 2, parts } })] });
    const [cairnThread] = (await memory.threads.list(user)).items;
    const { items } = await memory.threads.read(cairnThread?.id ?? "");
    expect(items[0]?.message).toMatchObject({ content: null, parts });
    expect((await memory.recall(user, { query: "Look" })).hits[0]?.text).toBe("Look:");
  });

  it("may go on with it", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = await filled(new CairnMemoryStorage({ memory, user }));
    const [cairnThread] = (await memory.threads.list(user)).items.filter(({ recordId }) => recordId === "t");
    await memory.threads.append(cairnThread?.id ?? "", [{ role: "assistant", content: "Said elsewhere" }]);
    const { messages } = await storage.listMessages({ threadId: "t" });
    expect(messages.at(-1)).toMatchObject({
      role: "assistant",
      threadId: "t",
      resourceId: "alice",
      content: { format: 2, parts: [{ type: "text", text: "Said elsewhere" }] },
    });
  });
});

describe("an agent", () => {
  /** Answers how many messages it was shown. */
  const model = (): AgentConfig["model"] => {
    const mock = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => ({
        content: [
          { type: "text", text: `I was shown ${prompt.filter(({ role }) => role !== "system").length}` },
        ],
        finishReason: { unified: "stop", raw: "stop" },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      }),
    });
    // Mastra's type wants a stream from `doGenerate`, which it does not use.
    return mock as unknown as AgentConfig["model"];
  };

  it("remembers a conversation in another process, and what it noted of the user", async () => {
    const user = newUser();
    const talk = async (text: string) => {
      const storage = cairnStorage({ memory: await clientOf(user), user });
      const agent = new Agent({
        id: "guide",
        name: "Guide",
        instructions: "Be kind.",
        model: model(),
        // The SDK's own memory for tests, over any storage; its type names one.
        memory: new MockMemory({ storage: storage as InMemoryStore }),
      });
      const mastra = new Mastra({ agents: { guide: agent }, storage, logger: false });
      const options = { memory: { thread: "trip", resource: "alice" } };
      return (await mastra.getAgent("guide").generate(text, options)).text;
    };
    expect(await talk("Hello")).toBe("I was shown 1");
    expect(await talk("And again")).toBe("I was shown 3");
    const storage = await newStorage(user);
    const { messages, total } = await storage.listMessages({ threadId: "trip" });
    expect(total).toBe(4);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect((await storage.listThreads({ filter: { resourceId: "alice" } })).total).toBe(1);
  });
});

it("is a storage of Mastra by its types, beside another for all else", async () => {
  const user = newUser();
  const otherwise = new InMemoryStore();
  const storage: MastraCompositeStore = cairnStorage({
    memory: await clientOf(user),
    user,
    default: otherwise,
  });
  const memory: MemoryStorage | undefined = await storage.getStore("memory");
  expect(memory).toBeInstanceOf(CairnMemoryStorage);
  expect(await storage.getStore("workflows")).toBe(await otherwise.getStore("workflows"));
});
