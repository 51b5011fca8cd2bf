import type { LanguageModelMiddleware } from "ai";
import { assistantMessage, brokenOff, Gathered } from "./answer.ts";
import { Conversation, type ConversationOptions, type Spoken, spokenIn } from "./conversation.ts";
import { requireConversationOptions } from "./require-options.ts";
import { recalled, recalledBlock, withBlock } from "./recalled.ts";
import type { CallParams, Prompt, PromptMessage } from "./sdk.ts";
import { storedMessage } from "./stored.ts";
import { type Listener, passedOn } from "./stream.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** What a run is given, frozen for its steps. */
type Given = { block: string | undefined; history: readonly PromptMessage[] };

/** One step: the prompt that the model gets, and what of it is to be saved. A step that is tried again is the same. */
type Step = { prompt: Prompt; spoken: Spoken };

/** Runs whose steps may still come. */
const RUNS = 256;

/**
 * A middleware for `wrapLanguageModel` that gives a model its memory: before each call, what is remembered that bears on
 * what the user said last, and the thread's history if you like; after it, the turn is saved to the thread. What fails of
 * that is told to `onError`, and breaks no answer unless `strict`.
 *
 * @example
 * const model = wrapLanguageModel({ model: openai("…"), middleware: cairnMemory({ memory, user: "alice", thread }) });
 */
export function cairnMemory(options: ConversationOptions): LanguageModelMiddleware {
  requireConversationOptions("cairnMemory", options);
  const conversation = new Conversation(options);
  const runs = new Map<string, Given>();
  const steps = new WeakMap<Prompt, Step>();

  /** What the run of this prompt is given: anew where the user has just spoken, else as before. */
  async function givenTo(prompt: Prompt, ended: AbortSignal | undefined): Promise<Given> {
    if (options.recall === false && !options.history) return { block: undefined, history: [] };
    const last = prompt.findLastIndex(({ role }) => role === "user");
    const run = await sha256Hex(JSON.stringify(prompt.slice(0, last + 1).map(storedMessage)));
    const before = last === prompt.length - 1 ? undefined : runs.get(run);
    if (before !== undefined) return before;
    const [hits, history] = await Promise.all([
      recalled(options, prompt, ended),
      conversation.history(prompt, ended),
    ]);
    const block = recalledBlock(options, hits, [...history, ...prompt]);
    runs.delete(run);
    runs.set(run, { block, history });
    for (const oldest of runs.keys()) if (runs.size > RUNS) runs.delete(oldest);
    return { block, history };
  }

  async function begin({ prompt, abortSignal }: CallParams): Promise<Step> {
    const { block, history } = await givenTo(prompt, abortSignal);
    const told = block === undefined ? prompt : withBlock(prompt, block);
    const first = told.findIndex(({ role }) => role !== "system");
    const head = first < 0 ? told.length : first;
    return {
      prompt: [...told.slice(0, head), ...history, ...told.slice(head)],
      spoken: spokenIn(prompt),
    };
  }

  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => {
      // The SDK tries a call again with the same prompt.
      const step = steps.get(params.prompt) ?? (await begin(params));
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
