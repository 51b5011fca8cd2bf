// The example in Next.js: the code of its route, in Node, and the prompts that its model receives. Next itself is not installed here.
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect, it } from "vitest";
import type { Cairn } from "../../client/src/index.ts";
import { newUser } from "./cairn.ts";
import { builtClient, load, recording, run, type ScriptedModel, variablesOf } from "./scripted-examples.ts";

type Body = { id: string; messages: UIMessage[] };
type Answer = (app: { memory: Cairn; user: string; model: ScriptedModel }, body: Body) => Promise<Response>;

async function app() {
  const { answer } = await load<{ answer: Answer }>("next-chat", "lib/chat.js");
  const user = newUser();
  const memory = await builtClient("next-chat", user);
  const { model, prompts } = await recording();
  /** A page: it sends and reads as `useChat` does. */
  const page = () => {
    const chatId = crypto.randomUUID();
    const messages: UIMessage[] = [];
    const transport = new DefaultChatTransport({
      fetch: (_, options) => answer({ memory, user, model }, JSON.parse(options?.body as string) as Body),
    });
    return async (text: string): Promise<string[]> => {
      messages.push({ id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] });
      const call = {
        chatId,
        messages,
        trigger: "submit-message",
        messageId: undefined,
        abortSignal: undefined,
      } as const;
      let last: UIMessage | undefined;
      for await (const message of readUIMessageStream({ stream: await transport.sendMessages(call) }))
        last = message;
      if (last !== undefined) messages.push(last);
      return prompts.at(-1) ?? [];
    };
  };
  const lives = () =>
    expect.poll(async () => (await memory.memories.list(user)).items.map(({ object }) => object));
  return { user, memory, page, lives };
}

it("tells only where the user lives now, and is the bare message for a thanks", async () => {
  const { page, lives } = await app();
  await page()("I live in Lisbon");
  await lives().toEqual(["Lisbon"]);
  const second = page();
  expect((await second("Where do I live?")).join("\n")).toContain("user: lives in Lisbon");
  await second("I now live in Porto");
  await lives().toEqual(["Porto"]);
  const third = page();
  const prompt = (await third("Where do I live?")).join("\n");
  expect(prompt).toContain("user: lives in Porto");
  expect(prompt).not.toContain("Lisbon");
  expect((await third("thanks!")).at(-1)).toBe("thanks!");
});

it("stores each message of the conversation once, before the answer ends", async () => {
  const { user, memory, page } = await app();
  const say = page();
  await say("Hello");
  await say("Hello again");
  const { items } = await memory.threads.list(user);
  expect(items).toMatchObject([{ length: 4 }]);
});

it("refuses a body that is no conversation, and says what is not set", async () => {
  const program = `
    const { POST } = await import("./app/api/chat/route.js");
    const post = async (body) => {
      const response = await POST(new Request("http://chat.test", { method: "POST", body }));
      return [response.status, response.status === 200 ? (await response.text()).includes("text-delta") : (await response.json()).error];
    };
    const message = { id: "1", role: "user", parts: [{ type: "text", text: "hi" }] };
    for (const body of ["{", "{}", JSON.stringify({ id: "c", messages: [] }), JSON.stringify({ id: "c", messages: [message] })])
      console.log(JSON.stringify(await post(body)));`;
  const args = ["--input-type=module", "-e", program];
  const linesOf = async (env: Record<string, string>) =>
    (await run("next-chat", args, env)).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as [number, unknown]);
  const lines = await linesOf(await variablesOf(newUser()));
  expect(lines.map(([status]) => status)).toEqual([400, 400, 400, 200]);
  expect(lines.at(-1)).toEqual([200, true]);
  expect((await linesOf({ CAIRN_URL: "", CAIRN_TOKEN: "" }))[0]).toEqual([
    500,
    "CAIRN_URL and CAIRN_TOKEN are not set.",
  ]);
});
