// The store interfaces of GemStack's ai-sdk, declared here since the SDK is not on the registry.
import type { AiMessage } from "../../../../src/domain/conversation/message.ts";

/** The user and agent of a thread; `resourceSlug` and `recordId` are the app's own. */
export type ConversationStoreMeta = {
  userId?: string | undefined;
  agent?: string | undefined;
  resourceSlug?: string | undefined;
  recordId?: string | undefined;
};

/** A thread in a list; `agent` and `userId` are absent if it has none. */
export type ConversationStoreListEntry = {
  id: string;
  title: string;
  createdAt: Date;
  updatedAt?: Date;
  agent?: string;
  userId?: string;
};

export interface ConversationStore {
  create(title?: string, meta?: ConversationStoreMeta): Promise<string>;
  load(id: string): Promise<AiMessage[]>;
  append(id: string, messages: AiMessage[]): Promise<void>;
  setTitle(id: string, title: string): Promise<void>;
  list(userId?: string): Promise<ConversationStoreListEntry[]>;
  delete?(id: string): Promise<void>;
}

/** A fact of a user. `score` is 0 to 1; `tags`, `score` and `updatedAt` may be absent. */
export type MemoryEntry = {
  id: string;
  userId: string;
  fact: string;
  tags?: string[];
  score?: number;
  createdAt: Date;
  updatedAt?: Date;
};

export interface UserMemory {
  remember(userId: string, fact: string, opts?: { tags?: string[]; score?: number }): Promise<MemoryEntry>;
  recall(userId: string, query: string, opts?: { limit?: number; tags?: string[] }): Promise<MemoryEntry[]>;
  forget(userId: string, factId: string): Promise<void>;
  list(userId: string, opts?: { tags?: string[]; limit?: number }): Promise<MemoryEntry[]>;
  forgetAll?(userId: string): Promise<void>;
}

/** Times are seconds. */
export interface CacheAdapter {
  get<T = unknown>(key: string): Promise<T | null>;
  set(key: string, value: unknown, ttlSeconds?: number): Promise<void>;
  forget(key: string): Promise<void>;
}

/** A store of parked runs of agents and sub-agents: `load` reads, `consume` reads and deletes. */
export interface RunStore<Run> {
  store(id: string, run: Run): Promise<void>;
  load(id: string): Promise<Run | null>;
  consume(id: string): Promise<Run | null>;
}
