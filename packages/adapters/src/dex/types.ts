import type { Cairn, CallOptions } from "../../../client/src/index.ts";

/** A message of the host. Its content is a text or parts, of which only text parts count. */
export type DexMessage = { role: string; content: unknown };

/** The message that holds the memories. */
export type DexBlock = { role: "user" | "system"; content: string };

/** A request to the caller's model; `prompt` holds the conversation as data. */
export type DexRequest = { system: string; prompt: string; signal: AbortSignal };

export type DexMemoryOptions = {
  memory: Cairn;
  /** The user whose memory is read and written. */
  user: string;
  /** The project's absolute path; its episodes are recalled only there. */
  projectRoot: string;
  /** The working directory; the project's root unless set. */
  cwd?: string;
  /** The procedures' shared owner; `shared:procedures` unless set. A token not of all users names it in `shared`. */
  procedureOwner?: string;
  /** A client that may write the shared owner's memory, if `memory` may not. */
  procedureMemory?: Cairn;
  /** Latest episodes of the project in the block; 5 unless set. */
  episodicRecent?: number;
  /** Most similar episodes of the project in the block, to 100; 3 unless set. */
  episodicSimilar?: number;
  /** Facts in the block, to 100; 10 unless set. */
  semanticLimit?: number;
  /** The least similarity, 0 to 1, of a procedure in the block; 0.5 unless set. */
  proceduralThreshold?: number;
  /** Answers a prompt with text; a cheap model suffices. Without it nothing is summarised. */
  llm?: (request: DexRequest) => Promise<string>;
  /** Summarises turns; true unless set. */
  autoWrite?: boolean;
  /** The fewest messages of a summary; fewer wait for the next turns. 1 unless set. */
  autoWriteMinMessages?: number;
  /** The timeout of one answer of `llm`, in milliseconds; 60,000 unless set. */
  llmWithinMs?: number;
  /** The limit of the recalls of a turn, and of each later call, in milliseconds; 3,000 unless set. Late memories are left out. */
  timeoutMs?: number;
  /** The role of the block's message; `user` unless set. */
  role?: DexBlock["role"];
  /** Receives background failures, and failed or late recalls. The client's `onLaterError` unless set. */
  onError?: (error: unknown) => void;
  /** The current time, in milliseconds since the epoch; the clock's unless set. */
  now?: () => number;
};

export type DexToolName =
  | "memory_remember_fact"
  | "memory_forget_fact"
  | "memory_store_procedure"
  | "memory_forget_procedure"
  | "memory_list_procedures"
  | "memory_get_procedure";

/** The arguments of each tool. */
export type DexToolArguments = {
  memory_remember_fact: { subject: string; predicate: string; object: string };
  memory_forget_fact: { subject: string; predicate: string; object?: string; all?: boolean };
  memory_store_procedure: { title: string; body: string; tags?: string[] };
  memory_forget_procedure: { title: string };
  memory_list_procedures: { query?: string; tag?: string; limit?: number };
  memory_get_procedure: { title: string };
};

type Property =
  | { type: "string"; minLength: 1; description: string }
  | { type: "boolean"; description: string }
  | { type: "integer"; minimum: 1; description: string }
  | { type: "array"; items: { type: "string"; minLength: 1 }; description: string };

/** The JSON Schema of a tool's arguments. */
export type DexSchema = {
  type: "object";
  properties: Record<string, Property>;
  required?: string[];
  additionalProperties: false;
};

export type DexTool = {
  name: DexToolName;
  description: string;
  inputSchema: DexSchema;
  /** Returns text for the model. Rejects with `CairnError`; `invalid_request` names each wrong argument. */
  execute: (args: unknown, options?: CallOptions) => Promise<string>;
};

/** A summary of work in a project. `createdAt` is in milliseconds since the epoch. */
export type DexEpisode = { id: string; text: string; createdAt: number };
/** A fact about the user or the project. */
export type DexFact = { id: string; text: string };
/** A procedure. `similarity` to the query is 0 to 1. */
export type DexProcedure = { id: string; title: string; similarity: number };

/** A memory extension: hooks that a host calls, and tools for its model. */
export type DexMemory = {
  name: "memory";
  tools: DexTool[];
  /** Resumes an earlier session: the messages of its history are not summarised again. */
  start: (history: readonly DexMessage[]) => void;
  /**
   * Returns the messages to send, with the block before the latest user message. Do not store them; the given array is
   * unchanged. Failures are left out and reported to `onError`. Rejects only with its signal's reason.
   */
  inject: <M extends DexMessage>(messages: readonly M[], options?: CallOptions) => Promise<(M | DexBlock)[]>;
  /** Takes the whole conversation after a turn, or its new part, and returns at once. `cwd`: the turn's directory. */
  afterTurn: (messages: readonly DexMessage[], at?: { cwd?: string }) => void;
  /** The messages that are not stored in Cairn yet. */
  readonly pending: readonly DexMessage[];
  /** Waits for background work, and retries failures once; the signal ends the wait. */
  dispose: (options?: CallOptions) => Promise<void>;
};
