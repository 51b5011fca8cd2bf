// What is wrong with a program is thrown where it is made.
import { describe, expect, it } from "vitest";
import {
  cairnMemory,
  type ConversationOptions,
  memoryStep,
  memoryTools,
  type MemoryToolsOptions,
} from "../src/ai-sdk.ts";
import { cairnMemoryFiles, type CairnMemoryFilesOptions } from "../src/anthropic.ts";
import { cairn } from "../../client/src/index.ts";

const memory = cairn({ url: "http://127.0.0.1:1", token: "t" });

/** As of a program that no compiler has looked at. */
const given = (options: object) =>
  options as ConversationOptions & MemoryToolsOptions & CairnMemoryFilesOptions;

describe.each([
  ["cairnMemory", cairnMemory],
  ["memoryStep", memoryStep],
  ["memoryTools", memoryTools],
  ["cairnMemoryFiles", cairnMemoryFiles],
])("%s", (name, make) => {
  it.each([
    ["memory", { user: "alice" }],
    ["memory", { user: "alice", memory: null }],
    ["user", { memory }],
    ["user", { memory, user: "" }],
    ["user", { memory, user: 7 }],
  ])("throws where %s is missing: %o", (missing, options) => {
    expect(() => make(given(options))).toThrow(new RegExp(`^${name}: .${missing}. is missing`));
    expect(() => make(given(options))).toThrow(TypeError);
  });
});

const wrong: [option: string, value: unknown][] = [
  ["context", true],
  ["context", null],
  ["timeoutMs", 0],
  ["timeoutMs", Infinity],
  ["strict", "yes"],
  ["onError", "log"],
];
it.each([
  ...wrong,
  ["history", -5],
  ["history", 1.5],
  ["history", 1_001],
  ["save", "latr"],
  ["thread", ""],
  ["thread", { agent: "" }],
  ["turn", ""],
])("a middleware is not made with %s: %o", (option, value) => {
  const options = given({ memory, user: "alice", thread: "t", [option]: value });
  expect(() => cairnMemory(options)).toThrow(new RegExp(`^cairnMemory: \`${option}\` must be `));
});

it.each(wrong)("nor a step with %s: %o", (option, value) => {
  const options = given({ memory, user: "alice", [option]: value });
  expect(() => memoryStep(options)).toThrow(new RegExp(`^memoryStep: \`${option}\` must be `));
});

it("a history has a thread that it is read from", () => {
  expect(() => cairnMemory({ memory, user: "alice", history: 20 })).toThrow(
    /^cairnMemory: `history` .* `thread`/,
  );
  expect(cairnMemory({ memory, user: "alice", history: 0 })).toBeDefined();
});

it("what is left out, or is undefined, is fine", () => {
  const options = { memory, user: "alice", thread: { agent: "a" }, history: 1_000, context: false } as const;
  for (const save of [true, false, "later"] as const) expect(cairnMemory({ ...options, save })).toBeDefined();
  const none = Object.fromEntries(
    [...wrong, ["thread"], ["history"], ["save"], ["turn"]].map(([name]) => [name]),
  );
  expect(cairnMemory(given({ ...none, memory, user: "alice" }))).toBeDefined();
});
