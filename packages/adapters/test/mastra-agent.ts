// A Mastra agent whose model plays a script, and what the model was sent.
import { Agent, type AgentConfig } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

/** An answer of the model: a text, or a call of a tool. */
export type Said = string | { tool: string; input: object };
type Call = Parameters<MockLanguageModelV3["doGenerate"]>[0];
export type Prompt = Call["prompt"];
type Answer = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model with a script, and the prompts that it got; without a script it answers `Fine.` */
export function scripted(script: Said[] = []) {
  const prompts: Prompt[] = [];
  let calls = 0;
  const answer = ({ prompt }: Call): Answer => {
    prompts.push(prompt);
    const said = script.shift() ?? "Fine.";
    const warnings: Answer["warnings"] = [];
    if (typeof said === "string")
      return {
        content: [{ type: "text", text: said }],
        finishReason: { unified: "stop", raw: "stop" },
        usage,
        warnings,
      };
    const input = JSON.stringify(said.input);
    const call = { type: "tool-call" as const, toolCallId: `call-${++calls}`, toolName: said.tool, input };
    return { content: [call], finishReason: { unified: "tool-calls", raw: "tool-calls" }, usage, warnings };
  };
  const mock = new MockLanguageModelV3({
    doGenerate: async (call) => answer(call),
    doStream: async (call) => {
      const { content, finishReason } = answer(call);
      const [block] = content as [{ type: "text"; text: string }]; // of a text
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: "stream-start", warnings: [] });
            controller.enqueue({ type: "text-start", id: "1" });
            controller.enqueue({ type: "text-delta", id: "1", delta: block.text });
            controller.enqueue({ type: "text-end", id: "1" });
            controller.enqueue({ type: "finish", finishReason, usage });
            controller.close();
          },
        }),
      };
    },
  });
  // Mastra's type wants a stream from `doGenerate`, which it does not use.
  return { prompts, model: mock as unknown as AgentConfig["model"] };
}

/** A tool that first does what the test wants. */
export const weather = (first: () => Promise<unknown> = async () => undefined) =>
  createTool({
    id: "weather",
    description: "The weather of a place.",
    inputSchema: z.object({ place: z.string() }),
    execute: async () => {
      await first();
      return "sunny";
    },
  });

export type Config = { model: AgentConfig["model"] } & {
  [Name in "memory" | "inputProcessors" | "tools"]?: NonNullable<AgentConfig[Name]>;
};
export const agentWith = (config: Config): Agent => {
  const whole: AgentConfig = { id: "guide", name: "Guide", instructions: "You are a guide.", ...config };
  return new Agent(whole);
};

/** The messages of a prompt as a provider's cache sees them. */
export const bytesOf = (prompt: Prompt): string[] => prompt.map((message) => JSON.stringify(message));

export const textsOf = (prompt: Prompt): string[] =>
  prompt.map(({ role, content }) =>
    [
      role,
      ...(typeof content === "string"
        ? [content]
        : content.map((part) => ("text" in part ? part.text : part.type))),
    ].join(" | "),
  );
