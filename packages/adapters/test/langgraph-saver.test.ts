import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  emptyCheckpoint,
  ERROR,
  INTERRUPT,
  MemorySaver,
  type SerializerProtocol,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CairnSaver, type CairnSaverOptions, CairnStore } from "../src/langgraph.ts";
import type { CairnOptions } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";
import { anyCharacter } from "../../../test/any-character.ts";

const newSaver = async (
  options: Partial<CairnSaverOptions> = {},
  client: Partial<CairnOptions> = {},
): Promise<CairnSaver> => {
  const user = options.user ?? newUser();
  return new CairnSaver({ memory: await clientOf(user, client), user, ...options });
};

const metadata = (more: Record<string, unknown> = {}): CheckpointMetadata => ({
  source: "loop",
  step: 0,
  parents: {},
  ...more,
});

const checkpointWith = (values: Record<string, unknown>, id = uuid6(0)): Checkpoint => ({
  ...emptyCheckpoint(),
  id,
  channel_values: values,
  channel_versions: Object.fromEntries(Object.keys(values).map((name) => [name, 1])),
});

const thread = (thread_id: string, more: Record<string, string> = {}) => ({
  configurable: { thread_id, checkpoint_ns: "", ...more },
});

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
const all = (saver: BaseCheckpointSaver, ...args: Parameters<BaseCheckpointSaver["list"]>) =>
  collected(saver.list(...args));
const idsOf = (tuples: readonly CheckpointTuple[]) => tuples.map(({ checkpoint }) => checkpoint.id);

/** Asks a person for the name of the city, between two nodes. */
const tripGraph = () =>
  new StateGraph(
    Annotation.Root({
      ...MessagesAnnotation.spec,
      city: Annotation<string>,
      visits: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    }),
  )
    .addNode("plan", () => ({ messages: [new AIMessage("Where to?")], visits: ["plan"] }))
    .addNode("ask", () => ({ city: interrupt<string, string>("which city?"), visits: ["ask"] }))
    .addNode("book", ({ city }) => ({ messages: [new AIMessage(`Booked ${city}`)], visits: ["book"] }))
    .addEdge(START, "plan")
    .addEdge("plan", "ask")
    .addEdge("ask", "book")
    .addEdge("book", END);

describe("a graph", () => {
  it("that was interrupted goes on in another process", async () => {
    const user = newUser();
    const config = { configurable: { thread_id: "trip" } };
    const first = tripGraph().compile({ checkpointer: await newSaver({ user }) });
    const input = { messages: [new HumanMessage("I want to travel")] };
    const interrupted = await first.invoke(input, config);
    expect(interrupted).toMatchObject({ __interrupt__: [{ value: "which city?" }] });

    const second = tripGraph().compile({ checkpointer: await newSaver({ user }) });
    const state = await second.getState(config);
    expect(state.next).toEqual(["ask"]);
    expect(state.tasks[0]?.interrupts[0]?.value).toBe("which city?");
    const answer = await second.invoke(new Command({ resume: "Lisbon" }), config);
    expect(answer.messages.map(({ content }) => content)).toEqual([
      "I want to travel",
      "Where to?",
      "Booked Lisbon",
    ]);
    expect(answer.messages[2]).toBeInstanceOf(AIMessage);
    expect(answer.visits).toEqual(["plan", "ask", "book"]);
  });

  it("has the same history as over the reference", async () => {
    const historyOf = async (checkpointer: BaseCheckpointSaver) => {
      const graph = tripGraph().compile({ checkpointer });
      const config = { configurable: { thread_id: "trip" } };
      await graph.invoke({ messages: [new HumanMessage({ content: "Hi", id: "1" })] }, config);
      await graph.invoke(new Command({ resume: "Porto" }), config);
      const history = await collected(graph.getStateHistory(config));
      return history.map(({ values, next, metadata: about, tasks }) => ({
        visits: values.visits as unknown,
        city: values.city as unknown,
        said: (values.messages as AIMessage[] | undefined)?.map(({ content }) => content),
        next,
        about: [about?.source, about?.step],
        interrupts: tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value as unknown)),
      }));
    };
    expect(await historyOf(await newSaver())).toEqual(await historyOf(new MemorySaver()));
  });

  it("that branches off keeps the values of both branches apart", async () => {
    const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
      .addNode("double", ({ n }) => ({ n: n * 2 }))
      .addEdge(START, "double")
      .addEdge("double", END)
      .compile({ checkpointer: await newSaver() });
    const config = { configurable: { thread_id: "t" } };
    await graph.invoke({ n: 1 }, config);
    const first = (await graph.getState(config)).config;
    const left = await graph.updateState(first, { n: 100 });
    const right = await graph.updateState(first, { n: 200 });
    expect((await graph.getState(first)).values).toEqual({ n: 2 });
    expect((await graph.getState(left)).values).toEqual({ n: 100 });
    expect((await graph.getState(right)).values).toEqual({ n: 200 });
    const copy = await graph.updateState(left, null, "__copy__");
    expect((await graph.getState(copy)).values).toEqual({ n: 100 });
  });

  it("with a subgraph that is interrupted goes on in it", async () => {
    const user = newUser();
    const build = async () => {
      const inner = new StateGraph(Annotation.Root({ city: Annotation<string>, inner: Annotation<string> }))
        .addNode("ask", () => ({ city: interrupt<string, string>("city?"), inner: "done" }))
        .addEdge(START, "ask")
        .addEdge("ask", END)
        .compile();
      return new StateGraph(Annotation.Root({ city: Annotation<string> }))
        .addNode("travel", inner)
        .addEdge(START, "travel")
        .addEdge("travel", END)
        .compile({ checkpointer: await newSaver({ user }) });
    };
    const config = { configurable: { thread_id: "sub" } };
    await (await build()).invoke({ city: "" }, config);
    const again = await build();
    const state = await again.getState(config, { subgraphs: true });
    expect(state.tasks[0]?.state).toMatchObject({ next: ["ask"] });
    expect(await again.invoke(new Command({ resume: "Faro" }), config)).toEqual({ city: "Faro" });
    const saver = await newSaver({ user });
    const namespaces = new Set(
      (await all(saver, { configurable: { thread_id: "sub" } })).map(
        (tuple) => tuple.config.configurable?.checkpoint_ns as string,
      ),
    );
    expect([...namespaces].some((namespace) => namespace.startsWith("travel:"))).toBe(true);
  });

  it("finds its store, which outlives the thread", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const graph = new StateGraph(Annotation.Root({ text: Annotation<string> }))
      .addNode("learn", async ({ text }, { store }) => {
        await store?.put(["facts"], "last", { text });
        return {};
      })
      .addEdge(START, "learn")
      .addEdge("learn", END)
      .compile({
        checkpointer: new CairnSaver({ memory, user }),
        store: new CairnStore({ memory, user, index: { fields: ["text"] } }),
      });
    await graph.invoke({ text: "The cat is called Minka" }, { configurable: { thread_id: "1" } });
    await graph.invoke({ text: "The cat is called Momo" }, { configurable: { thread_id: "2" } });
    const store = new CairnStore({ memory, user, index: { fields: ["text"] } });
    const [found] = await store.search(["facts"], { query: "what is the cat called?" });
    expect(found?.value).toEqual({ text: "The cat is called Momo" });
  });
});

describe("a checkpoint", () => {
  // The reference refuses some names, which objects have of themselves.
  const names = fc
    .string({ minLength: 1, unit: anyCharacter })
    .filter((one) => !(one in {}) && one !== "prototype");
  const values = fc.dictionary(names, fc.jsonValue({ maxDepth: 4 }));

  it("comes back as it went in, whatever its channels are called and hold", async () => {
    const user = newUser();
    const saver = await newSaver({ user });
    let n = 0;
    await fc.assert(
      fc.asyncProperty(values, names, async (held, namespace) => {
        const reference = new MemorySaver();
        const checkpoint = checkpointWith(held, uuid6(n++));
        const config = { configurable: { thread_id: `${namespace}${n}`, checkpoint_ns: namespace } };
        const versions = checkpoint.channel_versions;
        const ours = await saver.put(config, checkpoint, metadata({ namespace }), versions);
        const theirs = await reference.put(config, checkpoint, metadata({ namespace }));
        expect(ours).toEqual(theirs);
        expect(await saver.getTuple(ours)).toEqual(await reference.getTuple(theirs));
        expect(await saver.getTuple(config)).toEqual(await reference.getTuple(theirs));
      }),
      { numRuns: 40 },
    );
  });

  it("holds more than an entry does, in one value and in many", async () => {
    const saver = await newSaver();
    const large = {
      text: 'ä🙂"\n\u0001'.repeat(600_000),
      bytes: new Uint8Array(100_000).map((_, i) => i % 256),
      ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`c${i}`, "x".repeat(60_000 + i)])),
    };
    const checkpoint = checkpointWith(large);
    const config = await saver.put(
      thread("big"),
      checkpoint,
      metadata({ note: "m".repeat(3_000_000) }),
      checkpoint.channel_versions,
    );
    await saver.putWrites(config, [["text", "w".repeat(5_000_000)]], "task");
    const tuple = await saver.getTuple(thread("big"));
    expect(tuple?.checkpoint.channel_values).toEqual(large);
    expect(tuple?.metadata).toEqual(metadata({ note: "m".repeat(3_000_000) }));
    expect(tuple?.pendingWrites).toEqual([["task", "text", "w".repeat(5_000_000)]]);
    expect(await all(saver, thread("big"))).toEqual([tuple]);
  });

  it("keeps bytes that a serializer gives, text or not", async () => {
    const serde: SerializerProtocol = {
      dumpsTyped: async (value) => [
        "enc",
        new TextEncoder().encode(JSON.stringify(value)).map((byte) => byte ^ 0xff),
      ],
      loadsTyped: async (type, data) => {
        expect(type).toBe("enc");
        if (typeof data === "string") throw new Error("bytes went in");
        return JSON.parse(new TextDecoder().decode(data.map((byte) => byte ^ 0xff))) as unknown;
      },
    };
    const saver = await newSaver({ serde });
    const checkpoint = checkpointWith({ secret: "ünlesbar" });
    const config = await saver.put(thread("enc"), checkpoint, metadata(), checkpoint.channel_versions);
    await saver.putWrites(config, [["secret", "more"]], "task");
    expect(await saver.getTuple(config)).toMatchObject({
      checkpoint,
      pendingWrites: [["task", "secret", "more"]],
    });
    const plain = await newSaver();
    const raw = checkpointWith({
      raw: new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]),
      text: new Uint8Array([0xef, 0xbb, 0xbf, 0x61]),
    });
    await plain.put(thread("raw"), raw, metadata(), raw.channel_versions);
    expect((await plain.getTuple(thread("raw")))?.checkpoint.channel_values).toEqual(raw.channel_values);
  });

  it("is the one before, whole, if the process dies at any write of the next one", async () => {
    const user = newUser();
    let left = Infinity;
    const saver = await newSaver(
      { user },
      {
        retry: false,
        fetch: async (request) => {
          const isWrite = (await request.clone().text()).includes('"op":"set"');
          if (isWrite && left-- <= 0) throw new Error("died");
          return fetch(request);
        },
      },
    );
    const before = checkpointWith({ text: "old" });
    await saver.put(thread("t"), before, metadata(), before.channel_versions);
    // 40 MB, in three batches and more.
    const next = {
      ...checkpointWith({ text: "n".repeat(20_000_000), other: "o".repeat(20_000_000) }),
      channel_versions: { text: 2, other: 1 },
    };
    const reader = await newSaver({ user });
    const putDyingAt = (write: number) => {
      left = write;
      return saver.put(thread("t", { checkpoint_id: before.id }), next, metadata(), next.channel_versions);
    };
    let died = 0;
    for (; died < 10; died++) {
      const error: unknown = await putDyingAt(died).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error === null) break;
      expect(error).toMatchObject({ code: "network" });
      expect((await reader.getTuple(thread("t")))?.checkpoint).toEqual(before);
    }
    expect(died).toBeGreaterThan(2);
    expect((await reader.getTuple(thread("t")))?.checkpoint).toEqual(next);
  });

  it("may be of any thread and namespace, and is only theirs", async () => {
    const saver = await newSaver();
    const odd = [
      "__proto__",
      "constructor",
      "a/b",
      "a",
      "a/",
      "%2F",
      "x".repeat(2000),
      "x".repeat(2001),
      "Ж".repeat(300),
    ];
    for (const [i, name] of odd.entries()) {
      const checkpoint = checkpointWith({ [`of ${name}`]: name }, uuid6(i));
      const config = { configurable: { thread_id: name, checkpoint_ns: name } };
      await saver.put(config, checkpoint, metadata(), checkpoint.channel_versions);
    }
    for (const name of odd) {
      const tuples = await all(saver, { configurable: { thread_id: name } });
      expect(tuples).toHaveLength(1);
      expect(tuples[0]?.checkpoint.channel_values).toEqual({ [`of ${name}`]: name });
      expect(tuples[0]?.config.configurable?.checkpoint_ns).toBe(name);
    }
    expect(await all(saver, {})).toHaveLength(odd.length);
    await saver.deleteThread("a");
    expect(await all(saver, {})).toHaveLength(odd.length - 1);
  });

  it("may be of a thread whose id no URL could hold", async () => {
    const saver = await newSaver();
    const odd = ["a\ud83d", "a\udc00", "a\ufffd", `${"x".repeat(200)}\ud83d`, `${"x".repeat(200)}\udc00`];
    for (const name of odd) {
      const checkpoint = checkpointWith({ text: JSON.stringify(name) });
      const config = { configurable: { thread_id: name, checkpoint_ns: name } };
      await saver.put(config, checkpoint, metadata(), checkpoint.channel_versions);
    }
    for (const name of odd) {
      const [tuple, ...others] = await all(saver, { configurable: { thread_id: name } });
      expect(others).toEqual([]);
      expect(tuple?.config.configurable).toMatchObject({ thread_id: name, checkpoint_ns: name });
      expect(tuple?.checkpoint.channel_values).toEqual({ text: JSON.stringify(name) });
    }
    expect(await all(saver, {})).toHaveLength(odd.length);
  });

  it("is of a thread whose id is a text", async () => {
    const saver = await newSaver();
    for (const thread_id of [1, "", null, {}])
      await expect(saver.getTuple({ configurable: { thread_id } })).rejects.toThrow("thread_id");
  });
});

describe("a list", () => {
  const filled = async (saver: BaseCheckpointSaver, count: number) => {
    const ids: string[] = [];
    let config = thread("t") as { configurable?: Record<string, unknown> };
    for (let step = 0; step < count; step++) {
      const checkpoint = checkpointWith({ step }, uuid6(step));
      checkpoint.channel_versions = { step: step + 1 };
      config = await saver.put(
        config,
        checkpoint,
        metadata({ step, who: { name: step % 2 ? "a" : "b" } }),
        checkpoint.channel_versions,
      );
      await saver.putWrites(config, [["step", `write ${step}`]], "task");
      ids.unshift(checkpoint.id);
    }
    return ids;
  };

  it("has the last first, each with what was written on top of it, over all pages", async () => {
    const saver = await newSaver();
    const ids = await filled(saver, 130);
    const tuples = await all(saver, thread("t"));
    expect(idsOf(tuples)).toEqual(ids);
    expect(tuples.map(({ checkpoint }) => checkpoint.channel_values.step)).toEqual(
      ids.map((_, i) => 129 - i),
    );
    expect(tuples.map(({ pendingWrites }) => pendingWrites?.[0]?.[2])).toEqual(
      ids.map((_, i) => `write ${129 - i}`),
    );
    expect(
      tuples.slice(0, -1).map(({ parentConfig }) => parentConfig?.configurable?.checkpoint_id as string),
    ).toEqual(ids.slice(1));
  });

  it("begins before a checkpoint, ends at its limit, and is what the filter lets through", async () => {
    const saver = await newSaver();
    const ids = await filled(saver, 9);
    const before = thread("t", { checkpoint_id: ids[3] ?? "" });
    expect(idsOf(await all(saver, thread("t"), { before, limit: 2 }))).toEqual(ids.slice(4, 6));
    expect(idsOf(await all(saver, thread("t"), { limit: 0 }))).toEqual([]);
    expect(idsOf(await all(saver, thread("t"), { filter: { step: 3 } }))).toEqual([ids[5]]);
    expect(idsOf(await all(saver, thread("t"), { filter: { who: { name: "a" } }, limit: 2 }))).toEqual([
      ids[1],
      ids[3],
    ]);
    expect(idsOf(await all(saver, before))).toEqual([ids[3]]);
    expect(await all(saver, thread("elsewhere"))).toEqual([]);
  });
});

describe("writes on top of a checkpoint", () => {
  const put = async (saver: BaseCheckpointSaver) =>
    saver.put(thread("t"), checkpointWith({}), metadata(), {});
  const writesOf = async (saver: BaseCheckpointSaver) => (await saver.getTuple(thread("t")))?.pendingWrites;

  it("are those of the reference: the first of a place stays, errors and interrupts are replaced", async () => {
    const run = async (saver: BaseCheckpointSaver) => {
      const config = await put(saver);
      await saver.putWrites(
        config,
        [
          ["a", 1],
          ["b", 2],
        ],
        "one",
        "~2",
      );
      await saver.putWrites(
        config,
        [
          ["a", 3],
          ["b", 4],
          ["c", 5],
        ],
        "one",
        "~2",
      );
      await saver.putWrites(
        config,
        [
          ["a", 6],
          [INTERRUPT, "first"],
        ],
        "two",
        "~1",
      );
      await saver.putWrites(
        config,
        [
          [INTERRUPT, "second"],
          [ERROR, "wrong"],
        ],
        "two",
        "~1",
      );
      await saver.putWrites(config, [], "three");
      await saver.putWrites(config, [["a", 7]], "three");
      return writesOf(saver);
    };
    expect(await run(await newSaver())).toEqual(await run(new MemorySaver()));
  });

  it("of one task that comes twice at once are those of one of the two, whole", async () => {
    const user = newUser();
    const savers = await Promise.all(Array.from({ length: 6 }, () => newSaver({ user })));
    const [saver] = savers;
    if (saver === undefined) throw new Error("there are six");
    const config = await put(saver);
    await Promise.all(
      savers.map((one, n) =>
        one.putWrites(
          config,
          [
            ["a", n],
            ["b", n],
          ],
          "task",
        ),
      ),
    );
    const writes = (await writesOf(saver)) ?? [];
    expect(writes).toHaveLength(2);
    expect(new Set(writes.map(([, , value]) => value)).size).toBe(1);
  });

  it("of many tasks at once are all there, however many each has", async () => {
    const saver = await newSaver();
    const config = await put(saver);
    const many = Array.from({ length: 2500 }, (_, i): [string, unknown] => ["c", i]);
    await Promise.all(Array.from({ length: 8 }, (_, n) => saver.putWrites(config, many, `task-${n}`)));
    expect(await writesOf(saver)).toHaveLength(8 * 2500);
  });
});

describe("deletion", () => {
  it("of a thread between the reads of a checkpoint leaves no half of it", async () => {
    const user = newUser();
    const deleting = new CairnSaver({ memory: await clientOf(user), user });
    let deletes = false;
    const saver = await newSaver(
      { user },
      {
        fetch: async (request) => {
          // Large values of the channels are asked for after the checkpoint itself.
          if (deletes && request.url.endsWith("/kv/batch")) await deleting.deleteThread("t");
          return fetch(request);
        },
      },
    );
    const checkpoint = checkpointWith({ text: "x".repeat(50_000) });
    await saver.put(thread("t"), checkpoint, metadata(), checkpoint.channel_versions);
    deletes = true;
    expect(await saver.getTuple(thread("t"))).toBeUndefined();
  });

  it("of a thread leaves nothing of it, and nothing else out", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const saver = new CairnSaver({ memory, user });
    for (const name of ["t", "t2"]) {
      const checkpoint = checkpointWith({ text: "x".repeat(2_000_000) });
      const config = await saver.put(thread(name), checkpoint, metadata(), checkpoint.channel_versions);
      await saver.putWrites(config, [["text", "y"]], "task");
    }
    await saver.deleteThread("t");
    expect(await saver.getTuple(thread("t"))).toBeUndefined();
    expect(await saver.getTuple(thread("t2"))).toBeDefined();
    await saver.deleteThread("t2");
    expect((await memory.kv.list(user)).items).toEqual([]);
    await saver.deleteThread("t2");
  });

  it("of a user takes the checkpoints along", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const saver = new CairnSaver({ memory, user });
    await saver.put(thread("t"), checkpointWith({}), metadata(), {});
    await memory.erasures.user(user);
    expect(await saver.getTuple(thread("t"))).toBeUndefined();
  });
});

describe("a failure", () => {
  it("of the server is not taken for a missing checkpoint, and loses nothing", async () => {
    const user = newUser();
    let status = 0;
    const saver = await newSaver(
      { user },
      {
        retry: { attempts: 2 },
        fetch: (request) => (status === 0 ? fetch(request) : new Response("", { status })),
      },
    );
    const checkpoint = checkpointWith({ n: 1 });
    const config = await saver.put(thread("t"), checkpoint, metadata(), checkpoint.channel_versions);
    for (status of [429, 500, 503]) {
      await expect(saver.getTuple(config)).rejects.toMatchObject({ status });
      await expect(all(saver, config)).rejects.toMatchObject({ status });
      await expect(saver.put(config, checkpointWith({}), metadata(), {})).rejects.toMatchObject({ status });
      await expect(saver.putWrites(config, [["n", 2]], "task")).rejects.toMatchObject({ status });
      await expect(saver.deleteThread("t")).rejects.toMatchObject({ status });
    }
    status = 0;
    expect((await saver.getTuple(thread("t")))?.checkpoint).toEqual(checkpoint);
  });

  it("is what another user's token gets", async () => {
    const [alice, bob] = [newUser(), newUser()];
    await (await newSaver({ user: alice })).put(thread("t"), checkpointWith({}), metadata(), {});
    const saver = new CairnSaver({ memory: await clientOf(bob), user: alice });
    await expect(saver.put(thread("t"), checkpointWith({}), metadata(), {})).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(saver.getTuple(thread("t"))).rejects.toMatchObject({ code: "not_found" });
  });
});

it("gives versions that go up, and are not those of another branch", async () => {
  const saver = await newSaver();
  fc.assert(
    fc.property(fc.option(fc.integer({ min: 0, max: 1e6 }), { nil: undefined }), (current) => {
      const [one, other] = [saver.getNextVersion(current), saver.getNextVersion(current)];
      expect(one).toBeGreaterThan(current ?? 0);
      expect(one).not.toBe(other);
      expect(saver.getNextVersion(one)).toBeGreaterThan(one);
    }),
  );
});

it("is a BaseCheckpointSaver by its types", async () => {
  const saver: BaseCheckpointSaver = await newSaver();
  expect(saver).toBeInstanceOf(BaseCheckpointSaver);
});
