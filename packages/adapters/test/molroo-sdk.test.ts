// A persona of the real SDK, whose engine is a double of molroo's HTTP API on loopback.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type * as sdk from "@molroo-io/sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { molrooMemory } from "../src/molroo.ts";
import { clientOf, newUser } from "./cairn.ts";

// Its ES modules import each other without file extensions, which Node refuses; its CommonJS build is the same source.
const { Molroo, NEUTRAL_APPRAISAL } = createRequire(import.meta.url)("@molroo-io/sdk") as typeof sdk;

const VAD = { V: 0.4, A: 0.1, D: 0 };
let episodes = 0;

/** What the SDK calls: that there is such a persona, its prompt, and what its engine makes of a message. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString() || "{}") as { event?: Record<string, unknown> };
  const { event } = body;
  const result = request.url?.endsWith("/prompt-context")
    ? { systemPrompt: "You are Sera, a barista.", personaPrompt: {} }
    : request.url?.endsWith("/perceive") && event !== undefined
      ? {
          emotion: { vad: VAD, discrete: { primary: "joy", intensity: 0.4 } },
          memoryEpisode: {
            id: `ep-${++episodes}`,
            timestamp: event.timestamp,
            sourceEntity: event.sourceEntity,
            type: event.type,
            context: (event.payload as { message: string }).message,
            appraisal: event.appraisal,
            importance: 0.6,
            emotionSnapshot: VAD,
          },
          reflectionPrompt: { system: "Reflect.", user: "What did you learn?" },
        }
      : { personaId: "sera" };
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ result }));
}

const engine = createServer((request, response) => void answer(request, response));
beforeAll(async () => {
  await once(engine.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => void engine.close());

/** One process: a persona with a model that says what it is told to, and a memory of its own. */
async function session(user: string, said: string) {
  const seen: string[] = [];
  const waited: Promise<unknown>[] = [];
  const llm: sdk.LLMAdapter = {
    generateText: ({ system = "" }) => {
      seen.push(system);
      return Promise.resolve({ text: `I learnt: ${said}` });
    },
    generateObject: <T>({ system = "" }: sdk.GenerateObjectOptions<T>) => {
      seen.push(system);
      // What the schema of the SDK's `chat` parses to.
      return Promise.resolve({ object: { response: said, appraisal: { ...NEUTRAL_APPRAISAL } } as T });
    },
  };
  const { port } = engine.address() as AddressInfo;
  const molroo = new Molroo({ apiKey: "mk_test", baseUrl: `http://127.0.0.1:${port}` });
  const memory = await clientOf(user);
  const persona = await molroo.connectPersona("sera", {
    llm,
    memory: molrooMemory({ memory, user, waitUntil: (promise) => waited.push(promise) }),
  });
  /** The SDK saves without waiting, and a reflection after one more call of the model. */
  const settled = async (saves: number) => {
    await expect.poll(() => waited.length).toBe(saves);
    await Promise.all(waited);
  };
  return { persona, seen, settled, memory };
}

it("lets a persona remember in a second session what the first one saved", async () => {
  const user = newUser();
  const first = await session(user, "Oat milk for you, Alice, as always!");
  await first.persona.chat("I only drink oat milk", { from: "Alice" });
  await first.settled(2);
  expect(first.seen[0]).toBe("You are Sera, a barista.");

  const later = await session(user, "Hello again!");
  await later.persona.chat("Which milk do I take?", { from: "Alice" });
  await later.settled(2);
  const [system] = later.seen;
  expect(system).toContain("Recent conversations:");
  expect(system).toMatch(/Alice: Oat milk for you, Alice, as always! \(V:0\.40 A:0\.10 importance:0\.60\)/);
  expect(system).toContain("Your recent self-reflections:\n- I learnt: Oat milk for you, Alice, as always!");
});

it("shows a model related experiences that are no longer among the recent ones", async () => {
  const user = newUser();
  const { persona, seen, settled, memory } = await session(user, "Noted.");
  const adapter = molrooMemory({ memory, user });
  const old = {
    timestamp: 1000,
    importance: 0.5,
    emotionSnapshot: VAD,
    sourceEntity: "Alice",
    type: "chat_message",
  };
  await adapter.saveEpisode({ ...old, id: "cello", context: "Alice plays the cello in an orchestra" });
  for (let i = 0; i < 6; i++)
    await adapter.saveEpisode({ ...old, id: `talk-${i}`, timestamp: 2000 + i, context: `small talk ${i}` });
  await persona.chat("Do you remember my cello?", { from: "Alice" });
  await settled(2);
  const related = seen[0]?.split("Related past experiences:")[1];
  expect(related).toContain("Alice plays the cello in an orchestra");
});

it("saves the episode of an event that a persona perceives, with its type", async () => {
  const user = newUser();
  const { persona, settled, memory } = await session(user, "");
  await persona.event("gift", "Alice brings flowers", { from: "Alice", appraisal: { ...NEUTRAL_APPRAISAL } });
  await settled(1);
  const { items } = await memory.memories.list(user, { type: ["gift"], sourceEntity: "Alice" });
  expect(items.map(({ text }) => text)).toEqual(["Alice brings flowers"]);
});

it("lets a chat go on without its memory while Cairn is away, and tells of it", async () => {
  const user = newUser();
  const told: unknown[] = [];
  const memory = await clientOf(user, { fetch: () => Promise.reject(new Error("refused")), retry: false });
  const { port } = engine.address() as AddressInfo;
  const molroo = new Molroo({ apiKey: "mk_test", baseUrl: `http://127.0.0.1:${port}` });
  const llm: sdk.LLMAdapter = {
    generateText: () => Promise.resolve({ text: "" }),
    generateObject: <T>(_asked: sdk.GenerateObjectOptions<T>) =>
      // What the schema of the SDK's `chat` parses to.
      Promise.resolve({ object: { response: "Hi!", appraisal: { ...NEUTRAL_APPRAISAL } } as T }),
  };
  const adapter = molrooMemory({ memory, user, onError: (_error, unsaved) => told.push(unsaved) });
  const persona = await molroo.connectPersona("sera", { llm, memory: adapter });
  expect((await persona.chat("Hello", { from: "Alice" })).text).toBe("Hi!");
  await expect.poll(() => told.filter((unsaved) => unsaved !== undefined)).toHaveLength(2);
  expect(told).toContainEqual(expect.objectContaining({ context: "Hi!", sourceEntity: "Alice" }));
});
