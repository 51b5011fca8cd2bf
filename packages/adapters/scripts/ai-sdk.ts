// The AI SDK, for the bench of prompt caches: the adapters are tested with it, and nothing else installs it.
export * from "ai";
export { MockLanguageModelV4 } from "ai/test";
