import type { LanguageModelMiddleware } from "ai";
import { assistantMessage, brokenOff, Gathered } from "./answer.ts";
import { Conversation, type ConversationOptions, type Spoken, spokenIn } from "./conversation.ts";
import { requireConversationOptions } from "./require-options.ts";
import { type PromptMemory, withBlocks } from "../context/prompt-memory.ts";
import { NamedThread } from "../context/named-thread.ts";
import type { CallParams, Prompt, PromptMessage } from "./sdk.ts";
import { storedMessage } from "./stored-message.ts";
import { type Listener, passedOn } from "./stream.ts";
import { BoundedCache } from "../../../../src/domain/bounded-cache.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** The memory and the history of a run, fixed for all its steps. */
type Given = { memory: PromptMemory; history: readonly PromptMessage[] };

/** One step: the model's prompt, and the call to save. A retried step reuses it. */
type Step = { prompt: Prompt; spoken: Spoken };

/** Runs kept for later steps. */
const RUNS = 256;

/**
 * A middleware for `wrapLanguageModel` that gives a model memory. Before each call it adds a context: a stable block
 * behind the instructions, a block for each of the user's messages, and optionally the thread's history. After it, it saves the
 * turn to the thread. Failures go to `onError` and break no answer, unless `strict`.
 *
 * @example
 * const model = wrapLanguageModel({ model: openai("…"), middleware: cairnMemory({ memory, user: "alice", thread }) });
 */
export function cairnMemory(options: ConversationOptions): LanguageModelMiddleware {
  requireConversationOptions("cairnMemory", options);
  const thread = options.thread === undefined ? undefined : new NamedThread(options, options.thread);
  const conversation = new Conversation(options, thread);
  const runs = new BoundedCache<Given>(RUNS);
  const steps = new WeakMap<Prompt, Step>();

  /** The memory and history of this prompt's run: read anew after a user's message, else reused. */
  async function givenTo({ prompt, abortSignal: ended }: CallParams, model: string): Promise<Given> {
    const last = prompt.findLastIndex(({ role }) => role === "user");
    const run = await sha256Hex(JSON.stringify(prompt.slice(0, last + 1).map(storedMessage)));
    const before = last === prompt.length - 1 ? undefined : runs.get(run);
    if (before !== undefined) return before;
    const given = await conversation.given(prompt, { ended, model });
    runs.set(run, given);
    return given;
  }

  /** The prompt of the model: instructions, the stable block, the thread's history, and what the caller sent. */
  async function begin(params: CallParams, model: string): Promise<Step> {
    const { prompt } = params;
    const { memory, history } = await givenTo(params, model);
    const sent = withBlocks(prompt, memory);
    const first = sent.findIndex(({ role }) => role !== "system");
    const head = first < 0 ? sent.length : first;
    const stable: Prompt = memory.stable === "" ? [] : [{ role: "system", content: memory.stable }];
    return {
      prompt: [...sent.slice(0, head), ...stable, ...history, ...sent.slice(head)],
      spoken: spokenIn(prompt),
    };
  }

  return {
    specificationVersion: "v4",
    transformParams: async ({ params, model }) => {
      // The SDK tries a call again with the same prompt.
      const step = steps.get(params.prompt) ?? (await begin(params, model.provider));
      steps.set(params.prompt, step);
      steps.set(step.prompt, step);
      return { ...params, prompt: step.prompt };
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const answer = await doGenerate();
      const step = steps.get(params.prompt);
      if (step !== undefined) await conversation.save(step.spoken, assistantMessage(answer.content));
      return answer;
    },
    wrapStream: async ({ doStream, params }) => {
      const answer = await doStream();
      const step = steps.get(params.prompt);
      if (step === undefined) return answer;
      const gathered = new Gathered();
      const listener: Listener = {
        part: (part) => gathered.add(part),
        ended: async (how) => {
          if (how === "failed" || gathered.failed) return;
          const { spoken } = step;
          if (how === "whole" || gathered.finished)
            await conversation.save(spoken, assistantMessage(gathered.content));
          else await conversation.saveBrokenOff(spoken, brokenOff(gathered.content));
        },
      };
      return { ...answer, stream: passedOn(answer.stream, listener, params.abortSignal) };
    },
  };
}
