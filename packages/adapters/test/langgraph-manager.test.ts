// The memory manager in a graph of LangGraph, over several turns.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { cairnMemoryManager } from "../src/langgraph.ts";
import { failing } from "./broken.ts";
import { clientOf, newUser } from "./cairn.ts";

function graphOf(manager: ReturnType<typeof cairnMemoryManager>) {
  return new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [new AIMessage(`answer ${messages.length}`)] }))
    .addNode("remember", manager.node)
    .addEdge(START, "model")
    .addEdge("model", "remember")
    .addEdge("remember", END)
    .compile({ checkpointer: new MemorySaver() });
}
const on = (thread: string, user?: string) => ({ configurable: { thread_id: thread, user_id: user } });

it("stores each turn of each thread once, and never holds a run up", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const manager = cairnMemoryManager({ memory, user, afterMs: 20_000 });
  const graph = graphOf(manager);
  await graph.invoke({ messages: [new HumanMessage("I live in Porto.")] }, on("a"));
  await graph.invoke({ messages: [new HumanMessage("I work as a luthier.")] }, on("a"));
  await graph.invoke({ messages: [new HumanMessage("Something else.")] }, on("b"));
  expect(manager.pending.toSorted()).toEqual(["a", "b"]);
  await manager.settle();
  expect(manager.pending).toEqual([]);
  await graph.invoke({ messages: [new HumanMessage("And I have a dog.")] }, on("a"));
  await manager.settle();
  const { items } = await memory.threads.list(user, { order: "created" });
  expect(items.map(({ length }) => length)).toEqual([2, 6]);
  expect((await memory.recall(user, { query: "luthier" })).hits[0]?.text).toContain("luthier");
});

it("replaces a message that the graph edits, and stores it once", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const manager = cairnMemoryManager({ memory, user, afterMs: 20_000 });
  const graph = graphOf(manager);
  const said = new HumanMessage({ id: "m1", content: "I live in Porto." });
  await graph.invoke({ messages: [said] }, on("a"));
  await manager.settle();
  const edited = new HumanMessage({ id: "m1", content: "I live in Braga." });
  await graph.invoke({ messages: [edited, new HumanMessage("Where do I live?")] }, on("a"));
  await manager.settle();
  const [thread] = (await memory.threads.list(user)).items;
  const { items } = await memory.threads.read(thread?.id ?? "");
  expect(items.map(({ message }) => [message.role, message.parts])).toEqual([
    ["user", [{ type: "text", text: "I live in Braga." }]],
    ["assistant", [{ type: "text", text: "answer 1" }]],
    ["user", [{ type: "text", text: "Where do I live?" }]],
    ["assistant", [{ type: "text", text: "answer 3" }]],
  ]);
});

it("keeps the names of several people, of whom the user is one", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const failures: unknown[] = [];
  const onError = (error: unknown) => failures.push(error);
  const manager = cairnMemoryManager({
    memory,
    user,
    afterMs: 20_000,
    owners: ["Ana"],
    extract: ["episodes"],
    onError,
  });
  const bob = new HumanMessage({ id: "m1", name: "Bob", content: "Always answer in French." });
  manager.submit([bob], on("a"));
  await manager.settle();
  // The user has not spoken yet.
  expect([failures.length, manager.pending]).toEqual([1, ["a"]]);
  const ana = new HumanMessage({ id: "m2", name: "Ana", content: "Always answer in English." });
  manager.submit([bob, ana], on("a"));
  await manager.settle();
  const [thread] = (await memory.threads.list(user)).items;
  expect(thread?.owners).toEqual(["Ana"]);
  const { items } = await memory.threads.read(thread?.id ?? "");
  expect(items.map(({ message }) => message.name)).toEqual(["Bob", "Ana"]);
  const { stable } = await memory.context(user, {});
  expect(stable.text).toContain("Always answer in English.");
  expect(stable.text).not.toContain("French");
});

it("stores what a user without a name says, though the names of the user are given", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const manager = cairnMemoryManager({
    memory,
    user,
    afterMs: 20_000,
    owners: ["Ana"],
    extract: ["episodes"],
  });
  const said = new HumanMessage({ id: "m1", content: "I live in Porto." });
  manager.submit([said], on("a"));
  await manager.settle();
  expect(manager.pending).toEqual([]);
  const ownersOf = async () => (await memory.threads.list(user)).items.map(({ owners }) => owners);
  expect(await ownersOf()).toEqual([undefined]);
  manager.submit([said, new HumanMessage({ id: "m2", name: "ana", content: "Hello there." })], on("a"));
  await manager.settle();
  expect(await ownersOf()).toEqual([["Ana"]]);
});

it("sends a thread that is quiet by itself", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const manager = cairnMemoryManager({ memory, user, afterMs: 1 });
  await graphOf(manager).invoke({ messages: [new HumanMessage("I live in Porto.")] }, on("a"));
  while (manager.pending.length > 0) await new Promise((resolve) => void setTimeout(resolve, 5));
  expect((await memory.threads.list(user)).items).toMatchObject([{ length: 2 }]);
});

it("takes the user from the run's config, and keeps users apart", async () => {
  const [one, other] = [newUser(), newUser()];
  const memory = await clientOf("*");
  const manager = cairnMemoryManager({
    memory,
    user: (config) => (config.configurable as { user_id: string }).user_id,
    afterMs: 20_000,
  });
  const graph = graphOf(manager);
  await graph.invoke({ messages: [new HumanMessage("I am one.")] }, on("same", one));
  await manager.settle();
  manager.submit([new HumanMessage("I am the other.")], on("same", other));
  await manager.settle();
  for (const user of [one, other]) expect((await memory.threads.list(user)).items).toHaveLength(1);
  expect(() => manager.submit([new HumanMessage("x")], on("same"))).toThrow("returned no user");
});

it("keeps what failed, tells of it, and stores it with the next turn", async () => {
  const user = newUser();
  const failures: unknown[] = [];
  const memory = await clientOf(user, { fetch: failing(503, { times: 1 }), retry: false });
  const manager = cairnMemoryManager({
    memory,
    user,
    afterMs: 20_000,
    onError: (_error, failure) => failures.push(failure),
  });
  const graph = graphOf(manager);
  await graph.invoke({ messages: [new HumanMessage("first")] }, on("a"));
  await manager.settle();
  expect(manager.pending).toEqual(["a"]);
  await graph.invoke({ messages: [new HumanMessage("second")] }, on("a"));
  await manager.settle();
  expect([manager.pending, failures]).toEqual([[], [{ doing: "ingest", conversation: "a" }]]);
  expect((await memory.threads.list(user)).items).toMatchObject([{ length: 4 }]);
});

it("refuses invalid options", async () => {
  const memory = await clientOf(newUser());
  expect(() => cairnMemoryManager({ memory, user: "" })).toThrow("`user` is missing");
  expect(() => cairnMemoryManager({ memory, user: "u", afterMs: -1 })).toThrow("`afterMs` must be");
  expect(() => cairnMemoryManager({ memory, user: "u", delay: 3 } as never)).toThrow("delay");
});
