// The calls of a turn to Cairn, through LangGraph's own `invoke` and LangChain's agent.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { createReactAgent } from "@langchain/langgraph/prebuilt";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { cairnMiddleware, CairnSaver } from "../src/langgraph.ts";
import { realTime } from "../../client/src/retry.ts";
import { clientOf, newUser } from "./cairn.ts";
import { observed } from "./observed.ts";

// Its own types make the compiler lose those of zod: it is called as LangGraph's agent.
const langchain: string = "langchain";
const { createAgent } = (await import(langchain)) as {
  createAgent: (options: object) => ReturnType<typeof createReactAgent>;
};

type Durability = "async" | "sync" | "exit";
const on = (durability: Durability) => ({ configurable: { thread_id: "trip" }, durability });

/** A user, and the calls since they were last taken. Each saver has a client of its own, as another process has. */
async function counted() {
  const user = newUser();
  const { calls, fetch } = observed();
  const memory = await clientOf(user, { fetch });
  const saver = () => new CairnSaver({ memory, user });
  return { user, memory, saver, taken: () => calls.splice(0) };
}

/** A model's node, and a node of tools if the question asks for them. */
const graphOf = (checkpointer: CairnSaver) =>
  new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }) => ({ messages: [new AIMessage(`answer ${messages.length}`)] }))
    .addNode("tools", () => ({ messages: [new AIMessage("sunny")] }))
    .addEdge(START, "model")
    .addConditionalEdges(
      "model",
      ({ messages }) => (messages.at(-2)?.text === "How is the weather?" ? "tools" : END),
      ["tools", END],
    )
    .addEdge("tools", "model")
    .compile({ checkpointer });

const turnsOf = async (durability: Durability) => {
  const { saver, taken } = await counted();
  const turns: number[] = [];
  for (const text of ["Hello", "And you?", "How is the weather?", "Thank you"]) {
    await graphOf(saver()).invoke({ messages: [new HumanMessage(text)] }, on(durability));
    turns.push(taken().length);
  }
  const { values } = await graphOf(saver()).getState(on(durability));
  return { turns, texts: (values as typeof MessagesAnnotation.State).messages.map(({ text }) => text) };
};

const TEXTS = ["Hello", "answer 1", "And you?", "answer 3", "How is the weather?", "answer 5"];
TEXTS.push("sunny", "answer 7", "Thank you", "answer 9");

describe("a turn of a graph with a checkpointer", () => {
  it.each(["async", "sync"] as const)(
    "takes four calls, and one more for each node that follows (%s)",
    async (durability) => {
      const { turns, texts } = await turnsOf(durability);
      console.log(`LangGraph, ${durability}: ${turns.join(", ")} calls`);
      expect(texts).toEqual(TEXTS);
      expect(turns).toEqual([4, 4, 6, 4]);
    },
  );

  it("takes two calls, however many nodes, where it is stored at its end", async () => {
    const { turns, texts } = await turnsOf("exit");
    console.log(`LangGraph, exit: ${turns.join(", ")} calls`);
    expect(texts).toEqual(TEXTS);
    expect(turns).toEqual([2, 2, 2, 2]);
  });
});

// LangChain reads the state once more before a run, and has one step more: three, and five with a tool. A step may write in one turn of
// the event loop, or in two.
it.each([
  ["async", [2 + 2 * 3, 2 + 2 * 3, 2 + 2 * 5]],
  ["exit", [3, 3, 3]],
] as const)("an agent of LangChain takes more calls (%s)", async (durability, expected) => {
  const { user, memory, saver, taken } = await counted();
  const weather = tool(() => "sunny", { name: "weather", schema: z.object({}) });
  const model = fakeModel()
    .respond(new AIMessage("one"))
    .respond(new AIMessage("two"))
    .respondWithTools([{ name: "weather", args: {}, id: "c1" }])
    .respond(new AIMessage("three"));
  const turns: number[] = [];
  for (const text of ["Hello", "And you?", "How is the weather?"]) {
    const middleware = [cairnMiddleware({ memory, user })];
    const agent = createAgent({ model, tools: [weather], middleware, checkpointer: saver() });
    await agent.invoke({ messages: [new HumanMessage(text)] }, on(durability));
    const calls = taken();
    turns.push(calls.filter((call) => call.includes("/kv")).length);
    console.log(`createAgent, ${durability}: ${turns.at(-1)} calls, with memory ${calls.length}`);
  }
  for (const [i, most] of expected.entries()) expect(turns[i]).toBeLessThanOrEqual(most);
});

describe("the writes of a run that are stored together", () => {
  it("reject each for itself where Cairn refuses one of them", async () => {
    const { user, memory, saver } = await counted();
    const config = { ...on("async"), metadata: {} };
    const one = saver();
    const checkpoint = await one.put(config, checkpointOf("1"), { source: "loop", step: 0, parents: {} }, {});
    const at = { ...config, configurable: { ...config.configurable, ...checkpoint.configurable } };
    const big = "x".repeat(70 * 1024 * 1024);
    const [kept, refused] = await Promise.allSettled([
      one.putWrites(at, [["a", 1]], "task-1"),
      one.putWrites(at, [["a", big]], "task-2"),
    ]);
    expect(kept.status).toBe("fulfilled");
    expect(refused).toMatchObject({ reason: { code: "value_too_large" } });
    const tuple = await new CairnSaver({ memory, user }).getTuple(at);
    expect(tuple?.pendingWrites).toEqual([["task-1", "a", 1]]);
  });

  it("keep what the task wrote before, also beside others", async () => {
    const { saver } = await counted();
    const config = { ...on("async"), metadata: {} };
    const one = saver();
    const checkpoint = await one.put(config, checkpointOf("1"), { source: "loop", step: 0, parents: {} }, {});
    const at = { ...config, configurable: { ...config.configurable, ...checkpoint.configurable } };
    await one.putWrites(at, [["a", 1]], "task-1");
    await Promise.all([one.putWrites(at, [["a", 2]], "task-1"), one.putWrites(at, [["b", 3]], "task-2")]);
    expect((await saver().getTuple(at))?.pendingWrites).toEqual([
      ["task-1", "a", 1],
      ["task-2", "b", 3],
    ]);
  });

  it("all reject while Cairn is away", async () => {
    const { user, memory } = await counted();
    const away = await clientOf(user, { fetch: () => Promise.reject(new TypeError("away")), retry: false });
    const config = { ...on("async"), metadata: {} };
    const one = new CairnSaver({ memory: away, user });
    const about = { source: "loop" as const, step: 0, parents: {} };
    const outcomes = await Promise.allSettled([
      one.put(config, checkpointOf("1"), about, {}),
      one.putWrites({ ...config, configurable: { thread_id: "trip", checkpoint_id: "1" } }, [["a", 1]], "t"),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: "network" } });
    expect(await new CairnSaver({ memory, user }).getTuple(config)).toBeUndefined();
  });
});

describe("the writes that a run makes while others are stored", () => {
  afterEach(() => vi.restoreAllMocks());

  /** A saver whose clock the test sets, and whose calls wait until they are let through. */
  async function held() {
    let now = 1_000_000;
    const timers = new Map<() => void, number>();
    vi.spyOn(realTime, "now").mockImplementation(() => now);
    vi.spyOn(realTime, "after").mockImplementation((ms, run) => {
      timers.set(run, now + ms);
      return () => void timers.delete(run);
    });
    const user = newUser();
    const waiting: (() => void)[] = [];
    const memory = await clientOf(user, {
      retry: false,
      fetch: async (request) => {
        await new Promise<void>((resolve) => void waiting.push(resolve));
        return fetch(request);
      },
    });
    const saver = new CairnSaver({ memory, user });
    const config = { configurable: { thread_id: "trip", checkpoint_id: "1" }, metadata: {} };
    const write = (task: string) => {
      const stored = saver.putWrites(config, [["a", task]], task);
      stored.catch(() => {});
      return stored;
    };
    return {
      write,
      waiting,
      sent: (count: number) => expect.poll(() => waiting.length).toBe(count),
      pass: (ms: number) => {
        now += ms;
        for (const [run, at] of timers) if (at <= now) run();
      },
      stored: async () => {
        const all = await (await clientOf(user)).kv.list(user, { limit: 100 });
        return ["one", "two", "three"].filter((task) => all.items.some(({ key }) => key.includes(task)));
      },
    };
  }

  it("each have a limit of their own, though they are stored in one call", async () => {
    const { write, waiting, sent, pass, stored } = await held();
    const one = write("one");
    await sent(1);
    pass(100);
    const two = write("two");
    pass(2_800);
    const three = write("three");
    waiting[0]?.();
    await one;
    await sent(2);
    pass(200);
    await expect(two).rejects.toMatchObject({ code: "timeout" });
    waiting[1]?.();
    await three;
    expect(waiting).toHaveLength(2);
    expect(await stored()).toEqual(["one", "two", "three"]);
  });

  it("are not sent after their limits", async () => {
    const { write, waiting, sent, pass, stored } = await held();
    const one = write("one");
    await sent(1);
    pass(100);
    const two = write("two");
    pass(2_800);
    const three = write("three");
    pass(200);
    for (const late of [one, two]) await expect(late).rejects.toMatchObject({ code: "timeout" });
    await sent(2);
    waiting[1]?.();
    await three;
    expect(await stored()).toEqual(["three"]);
  });
});

const checkpointOf = (id: string) => ({
  v: 4,
  id,
  ts: "2026-01-01T00:00:00.000Z",
  channel_values: {},
  channel_versions: {},
  versions_seen: {},
});
