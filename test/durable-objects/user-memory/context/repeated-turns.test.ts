// A user who says the same again and again: each time is a turn of its own, whose block no later turn moves.
import { afterEach, describe, expect, it } from "vitest";
import { messageHash } from "../../../../src/domain/context/message-hash.ts";
import { call, newUser } from "../../../call.ts";
import { restore } from "../../../doubles/control.ts";
import { remember } from "../../../memory-calls.ts";
import { append, create, fork, read, say } from "../../../thread-calls.ts";
import { context } from "./calls.ts";

afterEach(restore);

const query = "Where is my boat?";
const TIMES = 15;
const layers = [{ type: "recalled" }];

/** A thread whose user says the same each time; something new is known each time. */
async function repeated() {
  const user = newUser();
  const { id: threadId } = await create(user);
  const sent: string[] = [];
  const pins = new Set<string>();
  return {
    user,
    threadId,
    /** The contents of the user's messages as they were sent. */
    sent,
    pins,
    learn: () => remember(user, { text: `My boat is at pier ${sent.length + 1} of the marina` }),
    ask: (more: object = {}) => context(user, { query, threadId, layers, answerable: "off", ...more }),
    /** Notes that a prompt was sent. */
    note: ({ recalled, pin }: { recalled: { text: string }; pin: string }) => {
      expect(recalled.text).toContain(`pier ${sent.length + 1} of`);
      sent.push(`${recalled.text}\n\n${query}`);
      pins.add(pin);
    },
    prompted: async () =>
      (await read(threadId, "view=prompted")).items.flatMap(({ message }) =>
        message.role === "user" ? [message.content] : [],
      ),
  };
}
const answered = [say(query), say("At its pier.", "assistant")];
const hashes = (n: number) => Promise.all(Array.from({ length: n }, () => messageHash(query)));
/** The user's messages of a prompt, with the blocks that an answer has for them. */
const promptOf = (
  { recalled, pinned }: { recalled: { text: string }; pinned: { index: number; text: string }[] },
  n: number,
): string[] =>
  Array.from({ length: n }, (_, i) => {
    const block = i === n - 1 ? recalled.text : (pinned.find(({ index }) => index === i)?.text ?? "");
    return `${block}\n\n${query}`;
  });

describe("a message that comes fifteen times", () => {
  it("has its own block each time, where the thread keeps the history", async () => {
    const { threadId, sent, pins, learn, ask, note, prompted } = await repeated();
    for (let i = 0; i < TIMES; i++) {
      await learn();
      const made = await ask();
      note(made);
      expect((await ask()).recalled).toEqual(made.recalled);
      await append(threadId, answered);
      expect(await prompted()).toEqual(sent);
    }
    expect(pins.size).toBe(TIMES);
    const { items } = (await call(`/v1/threads/${threadId}/messages?view=prompted&order=newest&limit=5`))
      .body;
    expect(items.map(({ message }: { message: { content: string } }) => message.content)).toEqual([
      "At its pier.",
      sent.at(-2),
      "At its pier.",
      sent.at(-1),
      "At its pier.",
    ]);
  });

  it("has its own block each time, where the message is stored before the call", async () => {
    const { threadId, sent, pins, learn, ask, note, prompted } = await repeated();
    for (let i = 0; i < TIMES; i++) {
      await learn();
      await append(threadId, [say(query)]);
      const own = i % 2 === 0 ? {} : { messages: await hashes(Math.min(i + 1, 3)) };
      note(await ask(own));
      await append(threadId, [say("At its pier.", "assistant")]);
      expect(await prompted()).toEqual(sent);
    }
    expect(pins.size).toBe(TIMES);
  });

  it.each([
    ["whole", TIMES],
    ["cut at its start", 4],
  ])("has its own block each time in a caller's prompt, which is %s", async (_, most) => {
    const { threadId, sent, pins, learn, ask, note, prompted } = await repeated();
    await append(threadId, [say("Let us talk of boats"), say("Fine.", "assistant")]);
    for (let i = 1; i <= TIMES; i++) {
      await learn();
      const n = Math.min(i, most);
      const messages = [
        ...(n < most ? [await messageHash("Let us talk of boats")] : []),
        ...(await hashes(n)),
      ];
      const made = await ask({ messages });
      note(made);
      expect(await ask({ messages })).toEqual(made);
      expect(promptOf(made, messages.length).slice(-n)).toEqual(sent.slice(-n));
      await append(threadId, answered);
      expect((await prompted()).slice(1)).toEqual(sent);
    }
    expect(pins.size).toBe(TIMES);
  });

  it("has its own block each time, where the thread keeps blocks only", async () => {
    const { sent, pins, learn, ask, note } = await repeated();
    for (let i = 1; i <= TIMES; i++) {
      await learn();
      const made = await ask({ messages: await hashes(i) });
      note(made);
      expect(promptOf(made, i)).toEqual(sent);
    }
    expect(pins.size).toBe(TIMES);
  });

  it("has its own block each time in the format messages", async () => {
    const { threadId, sent, pins, learn, ask, note } = await repeated();
    for (let i = 0; i < TIMES; i++) {
      await learn();
      const made = await ask({ format: "messages" });
      note(made);
      const said = made.messages.flatMap(({ role, content }: { role: string; content: string }) =>
        role === "user" ? [content] : [],
      );
      expect(said.length).toBeGreaterThan(Math.min(i, 4));
      expect(said).toEqual(sent.slice(-said.length));
      await append(threadId, answered);
    }
    expect(pins.size).toBe(TIMES);
  });

  it("keeps its blocks far behind, in a page, and in a fork, which goes on by itself", async () => {
    const { user, threadId, sent, learn, ask, note, prompted } = await repeated();
    const { body: early } = await fork(threadId, {});
    for (let i = 0; i < 2; i++) {
      await learn();
      note(await ask());
      // A run of an agent: more messages than are looked at for anything else.
      const steps = Array.from({ length: 410 }, (_, n) => say(`Step ${n}`, "assistant"));
      await append(threadId, [say(query), ...steps]);
    }
    expect(await prompted()).toEqual(sent);
    const { body: copy } = await fork(threadId, {});
    await remember(user, { text: "My boat is at pier 9 of the marina" });
    const mine = await context(user, { query, threadId: copy.id, layers, answerable: "off" });
    expect(mine.recalled.text).toContain("pier 9 of");
    const { items } = await read(copy.id, "view=prompted");
    expect(items.flatMap(({ message }) => (message.role === "user" ? [message.content] : []))).toEqual(sent);
    expect((await read(early.id, "view=prompted")).items).toEqual([]);
  });
});

it("a turn keeps its block if the message before it is deleted", async () => {
  const { threadId, sent, learn, ask, note, prompted } = await repeated();
  for (let i = 0; i < 4; i++) {
    await learn();
    note(await ask());
    await append(threadId, answered);
  }
  await call(`/v1/threads/${threadId}/messages/5`, { method: "DELETE" });
  expect(await prompted()).toEqual([sent[0], sent[1], sent[3]]);
});

it("a turn keeps its block if the turn before it is stored after the call", async () => {
  const { threadId, sent, learn, ask, note, prompted } = await repeated();
  const said = await Promise.all(["Let us talk of boats", query, "Tell me more", query].map(messageHash));
  await append(threadId, [say("Let us talk of boats"), say("Fine.", "assistant")]);
  await learn();
  note(await ask({ messages: said.slice(0, 2) }));
  await ask({ query: "Tell me more", messages: said.slice(0, 3) });
  await learn();
  const late = await ask({ messages: said });
  note(late);
  await append(threadId, answered);
  await append(threadId, [say("Tell me more"), say("It is blue.", "assistant")]);
  expect((await ask({ messages: said })).recalled).toEqual(late.recalled);
  await append(threadId, answered);
  const shown = await prompted();
  expect([shown[1], shown[3]]).toEqual(sent);
});

it("an earlier turn that is asked again has the block that it had", async () => {
  const { threadId, learn, ask } = await repeated();
  const texts = ["Let us talk of boats", query, "Tell me more"];
  const said = await Promise.all(texts.map(messageHash));
  const asked = async (n: number) => ask({ query: texts[n - 1], messages: said.slice(0, n) });
  await learn();
  const first = await asked(1);
  await append(threadId, [say("Let us talk of boats"), say("Fine.", "assistant")]);
  await learn();
  const second = await asked(2);
  await append(threadId, answered);
  await learn();
  const third = await asked(3);
  await append(threadId, [say("Tell me more"), say("It is blue.", "assistant")]);
  for (const [n, made] of [[1, first] as const, [2, second] as const, [3, third] as const])
    expect((await asked(n)).pin).toBe(made.pin);
});

it("a conversation of nothing else has its own block each time, in the caller's whole prompt and in the thread", async () => {
  const { threadId, sent, learn, ask, note, prompted } = await repeated();
  for (let i = 0; i < 6; i++) {
    await learn();
    const made = await ask({ messages: await hashes(i + 1) });
    note(made);
    expect(promptOf(made, i + 1)).toEqual(sent);
    await append(threadId, answered);
  }
  expect(await prompted()).toEqual(sent);
});
