// The shapes of Cloudflare's Agent Memory binding, as `@cloudflare/workers-types` declares them.

/** Cairn makes no `task`. */
export type MemoryType = "fact" | "event" | "instruction" | "task";
export type ConversationMessage = {
  role: "system" | "user" | "assistant";
  content: string;
  timestamp?: Date;
};
export type IncomingMemory = { content: string; sessionId?: string | null | undefined };
export type StoredMemory = {
  id: string;
  type: MemoryType;
  summary: string;
  content: string;
  sessionId: string | null;
  createdAt: Date;
  updatedAt: Date;
};
export type ScoredCandidate = { id: string; summary: string; sessionId: string | null; score: number };
export type SessionOptions = { sessionId?: string | null | undefined };
export type RecallOptions = {
  /** Candidates: 10, 25 or 50. */
  thinkingLevel?: "low" | "medium" | "high";
  /** An answer without `synthesize` lists 3, 8 or 20 of the best candidates. */
  responseLength?: "short" | "medium" | "long";
  referenceDate?: Date | string;
};
export type RecallResult = { count: number; answer: string; candidates: ScoredCandidate[] };
export type ListOptions = { limit?: number; cursor?: string; sessionId?: string; type?: MemoryType };
export type ListResult = { memories: Omit<StoredMemory, "content">[]; cursor?: string };

/** A profile: the memory of one user of Cairn. */
export type AgentMemoryProfile = {
  get(memoryId: string): Promise<StoredMemory>;
  delete(memoryId: string): Promise<StoredMemory>;
  remember(memory: IncomingMemory): Promise<StoredMemory>;
  ingest(messages: Iterable<ConversationMessage>, options?: SessionOptions): Promise<void>;
  getSummary(options?: SessionOptions): Promise<{ summary: string }>;
  recall(query: string, options?: RecallOptions): Promise<RecallResult>;
  list(options?: ListOptions): Promise<ListResult>;
  deleteSession(sessionId: string): Promise<void>;
};
/** The binding. */
export type AgentMemoryNamespace = {
  getProfile(profileName: string): Promise<AgentMemoryProfile>;
  deleteProfile(profileName: string): Promise<void>;
};
