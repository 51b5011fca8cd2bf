// The SDK's types that a middleware meets, taken from what `ai` exports.
import type { LanguageModelMiddleware } from "ai";

type Member<Name extends keyof LanguageModelMiddleware> = NonNullable<LanguageModelMiddleware[Name]>;

export type CallParams = Parameters<Member<"transformParams">>[0]["params"];
export type Prompt = CallParams["prompt"];
export type PromptMessage = Prompt[number];
export type UserMessage = Extract<PromptMessage, { role: "user" }>;
export type AssistantMessage = Extract<PromptMessage, { role: "assistant" }>;
export type AssistantPart = AssistantMessage["content"][number];
export type GenerateResult = Awaited<ReturnType<Member<"wrapGenerate">>>;
export type AnswerContent = GenerateResult["content"][number];
export type StreamResult = Awaited<ReturnType<Member<"wrapStream">>>;
export type StreamPart = StreamResult["stream"] extends ReadableStream<infer Part> ? Part : never;
