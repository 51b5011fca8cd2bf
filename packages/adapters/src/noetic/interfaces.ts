import type { ZodType } from "zod";

/** The parts of Noetic's interfaces used here, the same in core 3.x and 5.x. */

export type StorageAdapter = {
  /** The value; null if there is none. */
  get<T>(key: string): Promise<T | null>;
  /** Replaces the value; undefined deletes the entry. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as Noetic declares it
  set<T>(key: string, value: T): Promise<void>;
  /** No error if there is none. */
  delete(key: string): Promise<void>;
  /** All keys with this prefix, in byte order. */
  list(prefix: string): Promise<string[]>;
  /** The values of existing keys; null counts as missing. */
  getMany<T>(keys: string[]): Promise<Map<string, T>>;
};

/** Storage of one layer and scope, with relative keys. */
export type ScopedStorage = Omit<StorageAdapter, "list"> & { list(prefix?: string): Promise<string[]> };

/** The run, as hooks and functions see it. */
export type ExecutionContext = {
  executionId: string;
  threadId: string;
  resourceId?: string;
};

/** An item of a conversation; a message has a role and a content. */
export type Item = { readonly type: string };
export type ItemLog = { readonly items: readonly Item[] };

/** A function of a layer for code and models. */
export type LayerFunction<Input, Output, State> = {
  kind: "function";
  description: string;
  input: ZodType<Input>;
  output: ZodType<Output>;
  execute(args: Input, state: State, context: ExecutionContext): Promise<{ result: Output }>;
};
