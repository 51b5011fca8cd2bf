// The example of a coding agent: its hooks, run as the agent runs them, and the prompts that its model receives.
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fromNow } from "../../../test/from-now.ts";
import { clientOf, newUser, tokenOf } from "./cairn.ts";
import { variablesOf } from "./scripted-examples.ts";

const example = join(import.meta.dirname, "../../../examples/coding-agent");
const hook = join(example, ".claude/hooks/memory.js");
type Env = Record<string, string | undefined>;
type Example = {
  session: (options: {
    prompts: string[];
    model: (prompt: string[]) => string;
    env: Env;
    id?: string;
    now?: () => Date;
  }) => Promise<string[]>;
  tool: (name: string, args: object, env: Env) => Promise<string>;
};

async function agent() {
  const { session, tool } = (await import(join(example, "session.js"))) as Example;
  const user = newUser();
  const env: Env = { ...process.env, ...(await variablesOf(user)) };
  const received: string[][] = [];
  const model = (prompt: string[]) => {
    received.push(prompt);
    return "Noted.";
  };
  const now = () => new Date(fromNow(-60_000));
  const memory = await clientOf(user);
  return {
    user,
    env,
    received,
    memory,
    tool: (name: string, args: object) => tool(name, args, env),
    say: async (...prompts: string[]) => session({ prompts, model, env, now }),
  };
}

it("tells a later session what an earlier one was told, and adds nothing for a thanks", async () => {
  const { received, say } = await agent();
  await say("Always use pnpm in this repository.");
  expect(received.at(-1)).toEqual(["Always use pnpm in this repository."]);
  await say("How do I install a package?", "thanks!");
  const [stable] = received.at(-2) ?? [];
  expect(stable).toContain("Always use pnpm in this repository.");
  expect(received.at(-1)).toEqual([stable, "thanks!"]);
});

it("stores each message once, however often the hook runs, and extracts from it", async () => {
  const { user, say, memory } = await agent();
  await say("My name is Ana.", "My name is Ana, as I said.");
  const { items } = await memory.threads.list(user);
  expect(items).toMatchObject([{ length: 4 }]);
  await expect
    .poll(async () => (await memory.memories.list(user, { kind: ["fact"] })).items)
    .toMatchObject([{ subject: "user", predicate: "name is", object: "Ana" }]);
});

it("gives the model the same memory as tools", async () => {
  const { tool } = await agent();
  await tool("memory_remember", { text: "The deploy target is the Pi in the office" });
  expect(await tool("memory_recall", { query: "Where do we deploy to?" })).toContain("the Pi in the office");
});

it("leaves out tools, subagents and what the agent inserts", async () => {
  const { user, env, memory } = await agent();
  const path = join(mkdtempSync(join(tmpdir(), "cairn-transcript-")), "transcript.jsonl");
  const timestamp = new Date(fromNow(-60_000)).toISOString();
  const line = (type: string, content: unknown, more: object = {}) =>
    JSON.stringify({ type, message: { role: type, content }, timestamp, ...more });
  writeFileSync(
    path,
    [
      JSON.stringify({ type: "summary", summary: "Earlier" }),
      line("user", "Caveat: inserted", { isMeta: true }),
      line("user", "List the files."),
      line("assistant", [{ type: "tool_use", id: "1", name: "Bash", input: { command: "ls" } }]),
      line("user", [{ type: "tool_result", tool_use_id: "1", content: "secret.txt" }]),
      line("assistant", [{ type: "text", text: "Of a subagent" }], { isSidechain: true }),
      line("assistant", [{ type: "text", text: "There is one." }]),
    ].join("\n"),
  );
  const input = JSON.stringify({ hook_event_name: "SessionEnd", session_id: "s", transcript_path: path });
  const { status, stderr } = spawnSync(process.execPath, [hook], { input, env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const [thread] = (await memory.threads.list(user)).items;
  const { items } = await memory.threads.read(thread?.id ?? "");
  expect(items.map(({ message }) => message.content)).toEqual(["List the files.", "There is one."]);
});

it.each([
  ["no Cairn answers", { CAIRN_URL: "http://127.0.0.1:9" }, "fetch failed"],
  ["there is no token", { CAIRN_TOKEN: "" }, "CAIRN_TOKEN"],
  ["the token is of all users", {}, "of one user"],
])("says so and lets the agent go on where %s", async (_, more, why) => {
  const env: Env = { ...process.env, ...(await variablesOf(newUser())), ...more };
  if (why === "of one user") env.CAIRN_TOKEN = await tokenOf("*");
  const input = JSON.stringify({ hook_event_name: "UserPromptSubmit", prompt: "Where do I live?" });
  const { status, stdout, stderr } = spawnSync(process.execPath, [hook], { input, env, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain(why);
});
