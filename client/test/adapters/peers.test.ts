// The SDKs' versions that the package asks for are those that the tests run with.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import worker from "../../../package.json" with { type: "json" };
import about from "../../package.json" with { type: "json" };

const { peerDependencies, devDependencies } = about;
const docs = readFileSync(join(import.meta.dirname, "../../../docs/adapters/README.md"), "utf8");
const majorOf = (range: string): string | undefined => /\d+/.exec(range.replace("npm:ai@", ""))?.[0];

it.each([
  "@anthropic-ai/sdk",
  "@langchain/langgraph-checkpoint",
  "@mastra/core",
  "@openai/agents-core",
] as const)("%s is asked for as it is tested", (name) => {
  expect(peerDependencies[name]).toBe(devDependencies[name]);
});

it("ai is asked for in the majors that are tested", () => {
  const { ai5, ai6, ai } = devDependencies;
  expect(peerDependencies.ai.split(" || ").map(majorOf)).toEqual([ai5, ai6, ai].map(majorOf));
});

it.each(["hono", "zod"] as const)("%s is asked for in the major that is tested", (name) => {
  expect(majorOf(peerDependencies[name])).toBe(majorOf(worker.devDependencies[name]));
});

it.each(Object.entries(peerDependencies))(
  "the page of the adapters names the versions of %s: %s",
  (name, range) => {
    const [row] = docs.split("\n").filter((line) => line.startsWith(`| \`${name}\``));
    expect(row).toContain(
      range
        .split(" || ")
        .map((one) => `\`${one}\``)
        .join(", "),
    );
  },
);
