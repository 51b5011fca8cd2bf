import type { ZodType } from "zod";

/** Noetic's interfaces, of core 3.x and 5.x alike, as far as they are used here. */

export type StorageAdapter = {
  /** The value, or null of none. */
  get<T>(key: string): Promise<T | null>;
  /** Replaces the value; of undefined, deletes the entry. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as Noetic declares it
  set<T>(key: string, value: T): Promise<void>;
  /** No error if there is none. */
  delete(key: string): Promise<void>;
  /** All keys that begin so, in byte order. */
  list(prefix: string): Promise<string[]>;
  /** The values of those keys that are there; null is as none. */
  getMany<T>(keys: string[]): Promise<Map<string, T>>;
};

/** The same for one layer and scope: keys are relative to both. */
export type ScopedStorage = Omit<StorageAdapter, "list"> & { list(prefix?: string): Promise<string[]> };

/** What hooks and functions are told of the run. */
export type ExecutionContext = {
  executionId: string;
  threadId: string;
  resourceId?: string;
  tokenize?(text: string): number;
};

/** What a conversation is made of: messages have a role and a content. */
export type Item = { readonly type: string };
export type ItemLog = { readonly items: readonly Item[] };

/** What a layer lets code and models call. */
export type LayerFunction<Input, Output, State> = {
  kind: "function";
  description: string;
  input: ZodType<Input>;
  output: ZodType<Output>;
  execute(args: Input, state: State, context: ExecutionContext): Promise<{ result: Output }>;
};
