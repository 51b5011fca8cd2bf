// The SDK's own tool runner, over the memory tool, against an API on loopback that plays the model.
import { betaMemoryTool, type MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import { afterAll, beforeAll, expect, expectTypeOf, it } from "vitest";
import { cairnMemoryFiles } from "../src/anthropic.ts";
import { type FakeApi, fakeApi } from "./anthropic-api.ts";
import { clientOf, newUser } from "./cairn.ts";

let api: FakeApi;
beforeAll(async () => {
  api = await fakeApi();
});
afterAll(() => api.close());

/** Runs the model's commands and gives what it was told of each. */
async function run(handlers: MemoryToolHandlers, commands: object[]) {
  api.script.push(...commands.map((input) => ({ tool: "memory", input })));
  api.sent.length = 0;
  const last = await api.client.beta.messages.toolRunner({
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user", content: "Go on." }],
    tools: [betaMemoryTool(handlers)],
  });
  expect(last.content).toMatchObject([{ type: "text", text: "Done." }]);
  return api.sent.slice(1).map(({ messages }) => {
    const results = messages.at(-1)?.content as unknown as [{ content: string; is_error?: boolean }]; // of one call
    return [results[0].is_error === true ? "error" : "ok", results[0].content];
  });
}

it("has every command carried out, and the model told of each", async () => {
  const user = newUser();
  const handlers = cairnMemoryFiles({ memory: await clientOf(user), user });
  const path = "/memories/a.txt";
  const told = await run(handlers, [
    { command: "view", path: "/memories" },
    { command: "create", path, file_text: "one\ntwo" },
    { command: "create", path, file_text: "again" },
    { command: "str_replace", path, old_str: "two", new_str: "three" },
    { command: "insert", path, insert_line: 1, insert_text: "two\n" },
    { command: "view", path },
    { command: "rename", old_path: path, new_path: "/memories/d/b.txt" },
    { command: "view", path },
    { command: "view", path: "/memories/../../etc/passwd" },
    { command: "delete", path: "/memories/d" },
    { command: "forget", path },
  ]);
  expect(told).toEqual([
    [
      "ok",
      "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories",
    ],
    ["ok", "File created successfully at: /memories/a.txt"],
    ["error", "Error: File /memories/a.txt already exists"],
    [
      "ok",
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\tthree",
    ],
    ["ok", "The file /memories/a.txt has been edited."],
    [
      "ok",
      "Here's the content of /memories/a.txt with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree",
    ],
    ["ok", "Successfully renamed /memories/a.txt to /memories/d/b.txt"],
    ["error", "Error: The path /memories/a.txt does not exist. Please provide a valid path."],
    ["error", "Error: Path /memories/../../etc/passwd would escape /memories directory"],
    ["ok", "Successfully deleted /memories/d"],
    ["error", "Error: forget not implemented"],
  ]);
  expect(api.sent[0]?.tools).toEqual([{ type: "memory_20250818", name: "memory" }]);
});

it("remembers from one run to the next, in another process", async () => {
  const user = newUser();
  const first = cairnMemoryFiles({ memory: await clientOf(user), user });
  await run(first, [{ command: "create", path: "/memories/user.md", file_text: "Lives in Lisbon." }]);
  const second = cairnMemoryFiles({ memory: await clientOf(user), user });
  const told = await run(second, [{ command: "view", path: "/memories/user.md" }]);
  expect(told).toEqual([
    ["ok", "Here's the content of /memories/user.md with line numbers:\n     1\tLives in Lisbon."],
  ]);
});

it("lets the run go on when Cairn is away, and the model know", async () => {
  const user = newUser();
  const away = await clientOf(user, { retry: false, fetch: () => Promise.reject(new TypeError("refused")) });
  const told = await run(cairnMemoryFiles({ memory: away, user }), [{ command: "view", path: "/memories" }]);
  expect(told).toEqual([["error", "Error: network: refused"]]);
});

it("is what the SDK takes", () => {
  expectTypeOf(cairnMemoryFiles).returns.toEqualTypeOf<MemoryToolHandlers>();
});
