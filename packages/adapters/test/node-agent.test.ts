// The example of an agent in Node, as it stands: the prompts that its model receives, and its command.
import { expect, it } from "vitest";
import type { Cairn } from "../../client/src/index.ts";
import { newUser } from "./cairn.ts";
import { builtClient, load, recording, run, type ScriptedModel, variablesOf } from "./scripted-examples.ts";

type Ask = (agent: { memory: Cairn; user: string; model: ScriptedModel }, prompt: string) => Promise<string>;

it("tells only where the user lives now, and is the bare message for a thanks", async () => {
  const { ask } = await load<{ ask: Ask }>("node-agent", "agent.js");
  const user = newUser();
  const { model, prompts } = await recording();
  const agent = { memory: await builtClient("node-agent", user), user, model };
  const say = async (text: string) => {
    await ask(agent, text);
    return prompts.at(-1) ?? [];
  };
  expect(await say("I live in Lisbon")).toHaveLength(2);
  expect((await say("Where do I live?")).join("\n")).toContain("user: lives in Lisbon");
  await say("I now live in Porto");
  const prompt = (await say("Where do I live?")).join("\n");
  expect(prompt).toContain("user: lives in Porto");
  expect(prompt).not.toContain("Lisbon");
  const [first, stable, ...rest] = await say("thanks!");
  expect(rest).toEqual(["thanks!"]);
  expect(stable).toContain("user: lives in Porto");
  expect(first).not.toContain("Porto");
});

it("answers without a key by the memory in its prompt, and not by its own answers", async () => {
  const { model } = await recording();
  const text = (role: string, words: string) => ({ role, content: [{ type: "text", text: words }] });
  const answers = [text("assistant", "I remember:\n- user: lives in Lisbon"), text("user", "thanks!")];
  const [answer] = (await model.doGenerate({ prompt: answers })).content;
  expect(answer?.text).toBe("I know nothing about that yet.");
});

it("knows in one run what another was told, and each run is a thread", async () => {
  const user = newUser();
  const env = await variablesOf(user);
  const say = async (text: string) => (await run("node-agent", ["agent.js", text], env)).stdout.trim();
  expect(await say("Where do I live?")).toBe("I know nothing about that yet.");
  await say("I live in Lisbon");
  expect(await say("Where do I live?")).toBe("I remember:\n- user: lives in Lisbon");
  const { threads, memories } = await builtClient("node-agent", user);
  expect((await threads.list(user, { agent: "node-agent" })).items.map(({ length }) => length)).toEqual([
    2, 2, 2,
  ]);
  expect((await memories.list(user, { kind: ["fact"] })).items).toMatchObject([
    { subject: "user", predicate: "lives in", object: "Lisbon" },
  ]);
});

it("says what it needs", async () => {
  await expect(run("node-agent", ["agent.js"], {})).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("CAIRN_TOKEN"),
  });
});

it("fails where its memory is away, and does not answer without it", async () => {
  const env = { CAIRN_URL: "http://127.0.0.1:9", CAIRN_TOKEN: "t" };
  await expect(run("node-agent", ["agent.js", "Hello"], env)).rejects.toMatchObject({
    stderr: expect.stringContaining("CairnError: network"),
  });
});
