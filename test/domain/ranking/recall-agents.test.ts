// Recall in chats of a user with an assistant: who said it, earlier questions, long answers, and questions without an answer.
import { afterEach, describe, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { remember, type Seen } from "../../memory-calls.ts";
import { append, create, say } from "../../thread-calls.ts";

afterEach(restore);

const ask = async (user: string, json: object) => call(`/v1/users/${user}/recall`, { json });
const hits = async (user: string, json: object): Promise<Seen[]> => (await ask(user, json)).body.hits;

async function told(user: string, messages: readonly { role: string; content: string }[]) {
  control.embedsNow = true;
  const thread = await create(user);
  await append(thread.id, [...messages]);
  return thread;
}

const passageOf = (hit: Seen | undefined) =>
  (hit ?? {})["passage" as never] as { start: number; end: number };

const ASKS = [
  "Where do I live?",
  "Which city do I live in?",
  "What city am I living in now?",
  "Remind me where I live",
  "where is my home?",
  "Do you know where I live?",
  "In which city is my flat?",
  "Can you tell me where I live these days?",
  "what's the town I live in?",
  "Hey, where am I living at the moment?",
  "Which country do I live in?",
  "Where did I move to?",
];

describe("earlier questions", () => {
  it.each([[false], [true]])(
    "leave the first place to the fact that answers (answered: %s)",
    async (answered) => {
      const user = newUser();
      await remember(user, { text: "I moved to Lisbon in March" });
      for (const question of ASKS)
        await told(user, [say(question), ...(answered ? [say("You live in Lisbon.", "assistant")] : [])]);
      for (const query of ASKS) {
        const found = (await hits(user, { query })).map(({ text }) => text);
        expect(found.slice(0, 3), query).toContain("I moved to Lisbon in March");
      }
    },
  );

  it("are hits if the query is about them", async () => {
    const user = newUser();
    await told(user, [say("Where can I buy good rye flour?"), say("At the mill by the river.", "assistant")]);
    await told(user, [say("My cat sleeps all day.")]);
    const [hit] = await hits(user, { query: "What did I ask about rye flour?" });
    expect(hit).toMatchObject({ text: "Where can I buy good rye flour?" });
  });
});

it("counts a message that says the same as a memory once, the memory first", async () => {
  const user = newUser();
  await told(user, [say("I moved to Lisbon in March."), say("Congratulations!", "assistant")]);
  await remember(user, { text: "The user moved to Lisbon in March." });
  const found = await hits(user, { query: "When did I move to Lisbon?" });
  expect(found.map(({ text }) => text).filter((text) => text.includes("Lisbon"))).toEqual([
    "The user moved to Lisbon in March.",
  ]);
});

describe("roles", () => {
  it("are the only ones of messages; memories are not excluded", async () => {
    const user = newUser();
    await told(user, [say("The ferry leaves at nine"), say("The ferry leaves at ten", "assistant")]);
    await remember(user, { text: "The ferry is blue" });
    const of = async (json: object) =>
      (await hits(user, { query: "ferry", ...json })).map(({ text }) => text).toSorted();
    expect(await of({ roles: ["user"] })).toEqual(["The ferry is blue", "The ferry leaves at nine"]);
    expect(await of({ roles: ["assistant"], kinds: ["message"] })).toEqual(["The ferry leaves at ten"]);
    expect(await of({ roles: ["user", "assistant"], kinds: ["message"] })).toHaveLength(2);
    expect(await of({ roles: ["tool"], kinds: ["message"] })).toEqual([]);
  });

  it.each([[[]], [[""]], ["user"], [["x".repeat(65)]]])("are refused if they are %j", async (roles) => {
    const { status, body } = await ask(newUser(), { query: "ferry", roles });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("body.roles");
  });

  it("are refused where no message can be found", async () => {
    const { status, body } = await ask(newUser(), { query: "ferry", roles: ["user"], kinds: ["fact"] });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("body.roles");
  });
});

describe("the passage of a hit", () => {
  const filler = "Bread needs time, and the oven needs to be hot. ".repeat(12);

  it("is the part of a long message that answers", async () => {
    const user = newUser();
    const text = `# Baking\n${filler}\nThe ferry to the island leaves at nine from pier four.\n${filler}`;
    await told(user, [{ ...say(text, "assistant"), name: "Baker" } as never]);
    const [hit] = await hits(user, { query: "when does the ferry leave?" });
    const { start, end } = passageOf(hit);
    expect(hit?.text).toBe(text);
    expect(text.slice(start, end)).toContain("pier four");
    expect(end - start).toBeLessThanOrEqual(450);
  });

  it("is of the memory's own text", async () => {
    const user = newUser();
    const text = `${filler}\nThe ferry to the island leaves at nine.\n${filler}`;
    await remember(user, { key: "travel", text });
    const [hit] = await hits(user, { query: "when does the ferry leave?" });
    const { start, end } = passageOf(hit);
    expect(text.slice(start, end)).toContain("The ferry to the island");
  });

  it("is left out of a short text", async () => {
    const user = newUser();
    await remember(user, { text: "The ferry leaves at nine" });
    expect((await hits(user, { query: "ferry" }))[0]).not.toHaveProperty("passage");
  });
});

describe("answerable", () => {
  async function withFerry() {
    const user = newUser();
    await remember(user, { text: "The ferry to the island leaves at nine from pier four" });
    await remember(user, { text: "Zoë plays the cello in a quartet" });
    return user;
  }

  it("returns no hits if nothing fits, and the nearest beside", async () => {
    const user = await withFerry();
    // The two recalls are compared, and a score knows the age of what it found.
    control.clockAt = clock();
    const { body } = await ask(user, { query: "What is 17 times 23?", answerable: "auto" });
    expect(body).toMatchObject({ hits: [], abstained: true, nearest: expect.any(Array) });
    expect(body.nearest.length).toBeGreaterThan(0);
    const plain = await ask(user, { query: "What is 17 times 23?" });
    expect(plain.body.hits).toEqual(body.nearest);
    expect(plain.body).not.toHaveProperty("abstained");
    expect(plain.body.confidence).toBe(body.confidence);
  });

  it("returns the hits of a question with an answer", async () => {
    const user = await withFerry();
    const { body } = await ask(user, { query: "When does the ferry leave?", answerable: "auto" });
    expect(body.hits[0].text).toContain("ferry");
    expect(body).not.toHaveProperty("abstained");
    expect(body).not.toHaveProperty("nearest");
    expect(body.hits[0].score).toBeCloseTo(body.confidence, 5);
  });

  it("is refused if it is unknown", async () => {
    expect((await ask(newUser(), { query: "x", answerable: "yes" })).status).toBe(400);
  });
});
