// The extracting middleware in an agent of GemStack's shape, over several runs.
import { beforeEach, expect, it } from "vitest";
import { cairnConversations, cairnMemoryExtract, cairnMemoryInject } from "../src/gemstack.ts";
import type { Cairn } from "../../client/src/index.ts";
import { failing } from "./broken.ts";
import { clientOf, newUser } from "./cairn.ts";
import { AgentHost, type AiMiddleware } from "./gemstack-host.ts";

let user: string;
let memory: Cairn;
beforeEach(async () => {
  user = newUser();
  memory = await clientOf(user);
});
const AGENT = "SupportAgent";
const hostOf = (middleware: readonly AiMiddleware[], store = cairnConversations({ memory, user })) =>
  new AgentHost({
    store,
    agent: AGENT,
    instructions: "You are kind.",
    middleware: () => [...middleware],
    model: () => ({ text: "Fine." }),
  });

it("extracts from the thread of Cairn's conversations, and stores nothing twice", async () => {
  const extract = cairnMemoryExtract({ memory, user, thread: { agent: AGENT }, afterMs: 20_000 });
  const inject = cairnMemoryInject({ memory, user, thread: { agent: AGENT } });
  const host = hostOf([inject, extract]);
  await host.prompt(user, "I live in Ghent.");
  await host.prompt(user, "My sister Maeve is coming.");
  await extract.settle();
  expect(extract.pending).toEqual([]);
  const { items } = await memory.threads.list(user);
  expect(items).toMatchObject([{ length: 4 }]);
  const found = async () => (await memory.memories.list(user, { kind: ["fact"] })).items;
  // Cairn extracts after its answer.
  await expect
    .poll(async () => (await found()).map(({ text }) => text).toSorted())
    .toEqual(["I live in Ghent.", "My sister Maeve is coming."]);
});

it("keeps the conversation of another store under its id, once", async () => {
  const extract = cairnMemoryExtract({ memory, user, session: "case 7", afterMs: 20_000 });
  const messages = [
    { role: "system" as const, content: "You are kind." },
    { role: "user" as const, content: "I live in Ghent." },
    { role: "assistant" as const, content: "Fine." },
  ];
  extract.onFinish({ messages });
  await extract.settle();
  extract.onFinish({ messages: [...messages, { role: "user", content: "Thanks." }] });
  await extract.settle();
  expect((await memory.threads.list(user)).items).toMatchObject([{ length: 3 }]);
});

it("breaks no run while Cairn is away", async () => {
  const failures: unknown[] = [];
  const away = await clientOf(user, { fetch: failing(503), retry: false });
  const extract = cairnMemoryExtract({
    memory: away,
    user,
    session: "case 7",
    afterMs: 20_000,
    onError: (_error, failure) => failures.push(failure),
  });
  const host = hostOf([extract]);
  await host.prompt(user, "I live in Ghent.");
  await extract.settle();
  expect(failures).toEqual([{ doing: "ingest", conversation: "case 7" }]);
  expect(extract.pending).toEqual(["case 7"]);
});

it("is a middleware of the SDK to the compiler, and refuses invalid options", () => {
  const middleware: AiMiddleware = cairnMemoryExtract({ memory, user, session: "s" });
  expect(middleware.name).toBe("cairn-memory-extract");
  expect(() => cairnMemoryExtract({ memory, user } as never)).toThrow("`session` must be");
  expect(() => cairnMemoryExtract({ memory, user, session: "s", thread: "t" } as never)).toThrow("`session`");
});
