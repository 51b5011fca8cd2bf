// The interfaces of GemStack's ai-sdk that stores implement. The SDK is not on the registry, so they are written out.
import type { AiMessage } from "../../../../src/domain/conversation/message.ts";

/** Whose thread it is, and of which agent; `resourceSlug` and `recordId` are the app's own. */
export type ConversationStoreMeta = {
  userId?: string | undefined;
  agent?: string | undefined;
  resourceSlug?: string | undefined;
  recordId?: string | undefined;
};

/** A thread as lists have it; `agent` and `userId` are absent of a thread without. */
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

/** A fact of a user. `score` is 0 to 1; `tags`, `score` and `updatedAt` are absent where there are none. */
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

/** What an agent run, or that of a sub-agent, is parked in: `load` looks, `consume` takes. */
export interface RunStore<Run> {
  store(id: string, run: Run): Promise<void>;
  load(id: string): Promise<Run | null>;
  consume(id: string): Promise<Run | null>;
}
