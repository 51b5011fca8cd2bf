// The SDKs' versions that the package asks for are those that the tests run with.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import worker from "../../../package.json" with { type: "json" };
import published from "../../client/package.json" with { type: "json" };
import embed from "../../embed/package.json" with { type: "json" };
import tested from "../package.json" with { type: "json" };

const { devDependencies } = tested;
const { peerDependencies, peerDependenciesMeta } = published;
const majorOf = (range: string): string | undefined => /\d+/.exec(range.replace(/^npm:\w+@/, ""))?.[0];

it.each([
  "@anthropic-ai/sdk",
  "@langchain/langgraph-checkpoint",
  "@mastra/core",
  "@molroo-io/sdk",
  "@openai/agents-core",
  "agents",
  "langchain",
  "unstorage",
] as const)("%s is asked for as it is tested", (name) => {
  expect(peerDependencies[name]).toBe(devDependencies[name]);
});

it("ai is asked for in the majors that are tested", () => {
  const { ai5, ai6, ai } = devDependencies;
  expect(peerDependencies.ai.split(" || ").map(majorOf)).toEqual([ai5, ai6, ai].map(majorOf));
});

it("keyv is asked for in the versions that are tested", () => {
  const { keyv, keyv6 } = devDependencies;
  expect(peerDependencies.keyv.split(" || ")).toEqual([keyv, keyv6.replace("npm:keyv@", "")]);
});

it("every SDK with an adapter that npm has is asked for, and none is required", () => {
  expect(Object.keys(peerDependenciesMeta)).toEqual(Object.keys(peerDependencies));
  for (const meta of Object.values(peerDependenciesMeta)) expect(meta).toEqual({ optional: true });
  const alone = ["ai-employee", "agent-memory", "dex", "gemstack", "noetic"];
  const pages = readdirSync(join(import.meta.dirname, "../src")).flatMap((file) =>
    file.endsWith(".ts") ? file.replace(/\.ts$/, "") : [],
  );
  const sdks = Object.keys(peerDependencies).map((name) => name.replaceAll(/[@/]/g, " "));
  const words: Record<string, string> = { "ai-sdk": "ai", "openai-agents": "openai" };
  expect(
    pages.filter((name) => !alone.includes(name) && !sdks.some((sdk) => sdk.includes(words[name] ?? name))),
  ).toEqual([]);
});

it.each([
  ["hono", embed],
  ["zod", published],
] as const)("%s is asked for in the major that is tested", (name, { peerDependencies: asked }) => {
  expect(majorOf((asked as Record<string, string>)[name] ?? "")).toBe(majorOf(worker.devDependencies[name]));
});
