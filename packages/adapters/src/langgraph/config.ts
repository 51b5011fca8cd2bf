import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { CheckpointName } from "./checkpoint-record.ts";

/** LangChain's type, taken from the one package that this adapter imports. */
export type RunnableConfig = Parameters<BaseCheckpointSaver["getTuple"]>[0];

export const configOf = ({ threadId, namespace, id }: CheckpointName): RunnableConfig => ({
  configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: id },
});

/** Checks the type, since `configurable` is the caller's and becomes a key. */
export function threadIdOf({ configurable }: RunnableConfig): string | undefined {
  const id: unknown = configurable?.thread_id;
  if (id === undefined || (typeof id === "string" && id !== "")) return id;
  throw new Error('"thread_id" in config.configurable is to be a string that is not empty.');
}

export function requiredThreadId(config: RunnableConfig, what: string): string {
  const id = threadIdOf(config);
  if (id === undefined) throw new Error(`Failed to ${what}: "thread_id" is missing in config.configurable.`);
  return id;
}

export function namespaceOf({ configurable }: RunnableConfig): string {
  const namespace: unknown = configurable?.checkpoint_ns ?? "";
  if (typeof namespace === "string") return namespace;
  throw new Error('"checkpoint_ns" in config.configurable is to be a string.');
}
