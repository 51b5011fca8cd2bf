import type { Schema } from "ai";
import { DATA_NOTE } from "../../../../src/domain/conversation/stored-text.ts";
import { type Written, writtenOf, writtenText } from "../../../../src/domain/conversation/waiting-text.ts";
import { requireUser } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { Hit, Memory, MemoryKind } from "../../../client/src/shapes.ts";
import { limited, type TimeLimit, withinMethod } from "../limits/time-limit.ts";
import { type ForgetFact, forgetFact, type ForgottenFacts } from "../facts/forget-fact.ts";
import { hitLines, memoryLines, tagged } from "./block.ts";
import { inputSchema } from "./schema.ts";

export type MemoryToolsOptions = TimeLimit & {
  /** The client. Its token may read the user's memory, and write it for the tools that remember and forget. */
  memory: Pick<Cairn, "recall" | "memories">;
  /** The user whose memory the tools read and change. */
  user: string;
  /** Finds only memories of this scope and gives it to new ones; unless set, finds all and gives none. */
  scope?: string;
  /**
   * Shared owners (`shared:…`) that memory_recall searches together with the user, as for common procedures. The token
   * must name each in its claim `shared`.
   */
  owners?: readonly string[];
  /**
   * The id of the conversation's thread. A change that the user states in its last message then supersedes a fact that a person
   * wrote, if the message is stored by the time of the tool's call.
   */
  thread?: string;
};

const OPTIONS: OptionNames<MemoryToolsOptions> = {
  memory: true,
  user: true,
  scope: true,
  owners: true,
  thread: true,
  timeoutMs: true,
};

type Asked = { query: string; k?: number; kinds?: MemoryKind[]; tags?: string[] };
type Listing = { kinds?: MemoryKind[]; tags?: string[]; subject?: string; limit?: number; cursor?: string };
/** `status`: `quarantined` if it contradicts a memory of a higher trust. `superseded`: the facts that it ended. */
type Remembered = Written;
type Fact = { subject: string; predicate: string; object: string };

/** A tool of the SDK. A program gets its structured output and the model text; in version 5 both get the output. */
type MemoryTool<Input, Output> = {
  description: string;
  inputSchema: Schema<Input>;
  execute: (input: Input, call: { abortSignal?: AbortSignal | undefined }) => Promise<Output>;
  toModelOutput: (answer: { output: Output } | Output) => { type: "text"; value: string };
};

export type MemoryTools = {
  memory_recall: MemoryTool<Asked, { memories: Hit[] }>;
  thread_search: MemoryTool<Pick<Asked, "query" | "k">, { messages: Hit[] }>;
  memory_list: MemoryTool<Listing, { memories: Memory[]; cursor?: string }>;
  memory_remember_fact: MemoryTool<Fact, Remembered>;
  memory_forget_fact: MemoryTool<ForgetFact, ForgottenFacts>;
};

const KINDS: readonly MemoryKind[] = ["fact", "episode", "procedure", "reflection"];

const subject = {
  type: "string",
  minLength: 1,
  description:
    "Who or what it is about: `user` for the user themselves, even if their name is known; else a name.",
} as const;
const predicate = {
  type: "string",
  minLength: 1,
  description: "What of it: `lives in`, `prefers`.",
} as const;
const object = { type: "string", minLength: 1, description: "What is true of it: `Lisbon`." } as const;
const query = {
  type: "string",
  minLength: 1,
  description: "What to look for, in plain words: a question, or a topic.",
} as const;
const k = {
  type: "integer",
  minimum: 1,
  maximum: 100,
  description: "How many at most; 10 unless set.",
} as const;
const kinds = {
  type: "array",
  items: { type: "string", enum: KINDS },
  description: "Only these kinds.",
} as const;
const tags = {
  type: "array",
  items: { type: "string" },
  description: "Only memories that carry every one of these tags.",
} as const;

/**
 * Tools with which a model reads and changes a user's memory, named and called as those of Cairn's MCP server. They
 * return structured data; the model sees it as text, marked as data.
 *
 * @example
 * await generateText({ model, prompt, tools: memoryTools({ memory, user: "alice" }), stopWhen: isStepCount(5) });
 */
export function memoryTools(options: MemoryToolsOptions): MemoryTools {
  requireUser("memoryTools", options, OPTIONS);
  const { user, scope, owners = [], thread } = options;
  const memory = limited(options.memory, options);
  const scoped = scope === undefined ? {} : { scope };
  const source = thread === undefined ? {} : { source: { thread } };
  const shared = owners.length === 0 ? {} : { owners: [...owners] };
  return {
    memory_recall: {
      description:
        "Find what is remembered about the user by meaning and by words. Use it before answering anything that may depend on who the user is, what they prefer, or what was decided earlier. Best first.",
      inputSchema: inputSchema<Asked>({ query, k, kinds, tags }, ["query"]),
      execute: async (asked, { abortSignal: signal }) => {
        const body = { ...asked, kinds: asked.kinds ?? [...KINDS], ...scoped, ...shared };
        const { hits } = await memory.recall(user, body, { signal });
        return { memories: hits };
      },
      toModelOutput: (answer) =>
        text(shown(memoryLines(outputOf(answer).memories, user), "Nothing that fits is remembered.")),
    },
    thread_search: {
      description:
        "Find messages of earlier conversations with the user by meaning and by words. Use it when the words of a conversation matter, and not only what was remembered of it.",
      inputSchema: inputSchema<Pick<Asked, "query" | "k">>({ query, k }, ["query"]),
      execute: async (asked, { abortSignal: signal }) => {
        const { hits } = await memory.recall(user, { ...asked, kinds: ["message"] }, { signal });
        return { messages: hits };
      },
      toModelOutput: (answer) => text(shown(hitLines(outputOf(answer).messages), "No message fits.")),
    },
    memory_list: {
      description:
        "List what is remembered, the newest first, without a search. Use it to see everything, or all of one kind, tag or subject. To answer a question use memory_recall.",
      inputSchema: inputSchema<Listing>(
        {
          kinds,
          tags,
          subject: { ...subject, description: "Only facts about this subject." },
          limit: { ...k, description: "How many at most; 30 unless set." },
          cursor: { type: "string", description: "From the list before, to go on with it." },
        },
        [],
      ),
      execute: async ({ kinds: kind, tags: tag, limit = 30, subject: of, cursor: from }, call) => {
        // Some models fill in every argument: an empty cursor means none.
        const page = { limit, cursor: from === "" ? undefined : from };
        const only = { kind, tag, subject: of, scope: scope === undefined ? undefined : [scope] };
        const { items, cursor } = await memory.memories.list(
          user,
          { ...only, ...page },
          { signal: call.abortSignal },
        );
        return { memories: items, ...(cursor !== undefined && { cursor }) };
      },
      toModelOutput: (answer) => {
        const { memories, cursor } = outputOf(answer);
        return text(
          shown(memoryLines(memories, user), "Nothing of that is remembered."),
          ...(cursor === undefined ? [] : [`There are more: call again with cursor ${cursor}`]),
        );
      },
    },
    memory_remember_fact: {
      description:
        "Remember one lasting fact as subject, predicate and object (“user”, “prefers”, “TypeScript”). Use it when the user states something that will still matter in a later conversation, or asks you to remember it. A predicate with one object at a time (`lives in`, `works at`, `e-mail`) takes a new object in place of the old one. Any other (`likes`, `allergy`, `bought`) keeps all its objects. Do not store secrets, or what only this task needs.",
      inputSchema: inputSchema<Fact>({ subject, predicate, object }, ["subject", "predicate", "object"]),
      execute: async (fact, { abortSignal: signal }) => {
        const remembered = await memory.memories.remember(
          user,
          { kind: "fact", ...fact, ...scoped, ...source },
          { signal, trust: "model", adapter: "ai-sdk" },
        );
        return writtenOf(remembered);
      },
      toModelOutput: (answer) => {
        const remembered = outputOf(answer);
        return text(writtenText(remembered, `Remembered (id ${remembered.id}).`));
      },
    },
    memory_forget_fact: {
      description:
        "Forget the fact of a subject and a predicate for good, with its history. Use it when the user asks you to forget something. If the fact has several objects (“likes”: “tea”, “coffee”), name the one to forget in object; all of them go only with all. If a fact of one object (`lives in`) has only changed, remember the new one instead.",
      inputSchema: inputSchema<ForgetFact>(
        {
          subject,
          predicate,
          object: { ...object, description: "The object to forget: `tea`." },
          all: {
            type: "boolean",
            description: "True: forgets every object. Only if the user wants all of them forgotten.",
          },
        },
        ["subject", "predicate"],
      ),
      execute: (given, { abortSignal: signal }) =>
        withinMethod(options, (own) => forgetFact(own, user, { given, scope, options: { signal } })),
      toModelOutput: (answer) => text(outputOf(answer).text),
    },
  };
}

const outputOf = <Output extends object>(answer: { output: Output } | Output): Output =>
  "output" in answer ? answer.output : answer;

const text = (...lines: string[]) => ({ type: "text" as const, value: lines.join("\n") });

const shown = (lines: readonly string[], none: string): string =>
  lines.length === 0 ? none : tagged(DATA_NOTE, lines);
