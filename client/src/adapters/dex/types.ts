import type { Cairn, CallOptions } from "../../index.ts";

/** A message of the host, whatever else it has: a text, or parts, of which those of a text count. */
export type DexMessage = { role: string; content: unknown };

/** The message that brings what is remembered. */
export type DexBlock = { role: "user" | "system"; content: string };

/** What the caller's model is asked; `prompt` holds what was said, as data. */
export type DexRequest = { system: string; prompt: string; signal: AbortSignal };

export type DexMemoryOptions = {
  memory: Cairn;
  /** Whose memory it is. */
  user: string;
  /** The absolute path of the project: its episodes are recalled in it alone. */
  projectRoot: string;
  /** Where in the project the work goes on; the project's root unless set. */
  cwd?: string;
  /** The shared owner of the procedures; `shared:procedures` unless set. The token has to name it in `shared`, or be of all users. */
  procedureOwner?: string;
  /** A client that may change the shared owner's memory, where `memory` may only read it. */
  procedureMemory?: Cairn;
  /** How many of the project's last episodes the block shows; 5 unless set. */
  episodicRecent?: number;
  /** How many of the project's episodes that are most similar to what is said it shows besides, to 100; 3 unless set. */
  episodicSimilar?: number;
  /** How many facts it shows, to 100; 10 unless set. */
  semanticLimit?: number;
  /** From which similarity on, 0 to 1, it announces a procedure; 0.5 unless set. */
  proceduralThreshold?: number;
  /** Answers a prompt with text: the cheapest model that you have. Without it nothing is summarised. */
  llm?: (request: DexRequest) => Promise<string>;
  /** Whether turns are summarised; true unless set. */
  autoWrite?: boolean;
  /** How many messages a summary is of at least: fewer wait for those of the next turns. 1 unless set. */
  autoWriteMinMessages?: number;
  /** How long one answer of `llm` may take, in milliseconds; 60,000 unless set. */
  llmWithinMs?: number;
  /** How long a turn waits for what is recalled, in milliseconds; 3,000 unless set. What is late is left out. */
  recallWithinMs?: number;
  /** The role of the message that brings the block; `user` unless set. */
  role?: DexBlock["role"];
  /** Is told of what fails where nobody waits, and of what the block lacks. The client's `onLaterError` unless set. */
  onError?: (error: unknown) => void;
  /** Milliseconds since the epoch; the clock unless set. */
  now?: () => number;
};

export type DexToolName =
  | "memory_remember_fact"
  | "memory_forget_fact"
  | "memory_store_procedure"
  | "memory_forget_procedure"
  | "memory_list_procedures"
  | "memory_get_procedure";

/** What each tool takes. */
export type DexToolArguments = {
  memory_remember_fact: { subject: string; predicate: string; object: string };
  memory_forget_fact: { subject: string; predicate: string };
  memory_store_procedure: { title: string; body: string; tags?: string[] };
  memory_forget_procedure: { title: string };
  memory_list_procedures: { query?: string; tag?: string; limit?: number };
  memory_get_procedure: { title: string };
};

type Property =
  | { type: "string"; minLength: 1; description: string }
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
  /** What the tool says to the model. Rejects with a `CairnError`: `invalid_request` names each argument that is wrong. */
  execute: (args: unknown, options?: CallOptions) => Promise<string>;
};

/** Something that was done in a project. Times in milliseconds since the epoch. */
export type DexEpisode = { id: string; text: string; createdAt: number };
/** Something that is true of the user or the project. */
export type DexFact = { id: string; text: string };
/** How something is done. `similarity`: how well it answers what was asked, 0 to 1. */
export type DexProcedure = { id: string; title: string; similarity: number };

/** A memory extension: hooks for a host to call, and tools for its model. */
export type DexMemory = {
  name: "memory";
  tools: DexTool[];
  /** For a session that goes on from an earlier one: what is in the history then is not summarised again. */
  start: (history: readonly DexMessage[]) => void;
  /**
   * The messages to send to the model: with the block of what is remembered before the latest user message. To be sent and
   * not to be stored; the messages given stay as they are. What fails is left out and told to `onError`; rejects only with
   * the reason of its signal.
   */
  inject: <M extends DexMessage>(messages: readonly M[], options?: CallOptions) => Promise<(M | DexBlock)[]>;
  /** After a turn: takes the conversation so far, or what is new of it, and returns at once. `cwd`: where it was. */
  afterTurn: (messages: readonly DexMessage[], at?: { cwd?: string }) => void;
  /** What was said and is not in Cairn yet. */
  readonly pending: readonly DexMessage[];
  /** Waits for what runs in the background, and tries once more what failed before; the signal ends the waiting. */
  dispose: (options?: CallOptions) => Promise<void>;
};
