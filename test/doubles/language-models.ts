import { DeadlineExceeded } from "../../src/platform/deadline.ts";
import type { Generated, GenerateRequest, LanguageModel } from "../../src/platform/models/language-model.ts";
import { control } from "./control.ts";

/** One fate of a call: an answer as text or as JSON, or an error. */
export type Reply = string | object | Error;

/** A fact that a model is shown with its sentence, and its answer about it. */
export type Shown = {
  n: number;
  by: string;
  asked?: string;
  sentence: string;
  fact: { subject: string; predicate: string; object: string; text?: string };
};
export type LookEntry = Record<"says" | "subject" | "fact" | "now", boolean> & { n: number; object: string };

/** True for a second look at facts. */
export const isLook = ({ schema }: GenerateRequest): boolean => "looks" in Object(schema["properties"]);
export const shownIn = ({ messages }: GenerateRequest): Shown[] =>
  (messages[0]?.content ?? "").split("\n").map((line) => JSON.parse(line) as Shown);
/** The entry of a model that agrees, or does not. */
export const lookEntry = ({ n, fact: { object } }: Shown, holds = true): LookEntry => ({
  n,
  object,
  says: holds,
  subject: true,
  fact: true,
  now: true,
});

/**
 * A model that answers these replies one after another, and the last one for ever. Notes what it was asked. In a second look it agrees to
 * everything, unless `looks` has a reply.
 */
export class ScriptedModel implements LanguageModel {
  readonly name: string = "scripted";
  readonly asked: GenerateRequest[] = [];
  readonly looked: GenerateRequest[] = [];
  /** The replies to second looks, one after another, or what they follow from. */
  looks: Reply[] | ((facts: Shown[]) => Reply | Promise<Reply>) = [];
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    this.#replies = replies;
  }

  async generate(request: GenerateRequest): Promise<Generated> {
    if (isLook(request)) return this.look(request);
    this.asked.push(structuredClone(request));
    return answered((this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0]) ?? {});
  }

  protected async look(request: GenerateRequest): Promise<Generated> {
    this.looked.push(structuredClone(request));
    const agrees = (facts: Shown[]) => ({ looks: facts.map((fact) => lookEntry(fact)) });
    const facts = shownIn(request);
    return answered(
      typeof this.looks === "function" ? await this.looks(facts) : (this.looks.shift() ?? agrees(facts)),
    );
  }
}

function answered(reply: Reply): Generated {
  if (reply instanceof Error) throw reply;
  const text = typeof reply === "string" ? reply : JSON.stringify(reply);
  return { text, usage: { inputTokens: 100, outputTokens: 10 } };
}

/** A model that answers the first call when it is let go. By then, an alarm has waited for long enough. */
export class HangingModel extends ScriptedModel {
  override readonly name: string = "hanging";
  readonly #waiting = Promise.withResolvers<null>();
  /** The call that moves the clock, and how far. */
  moves = { call: 1, ms: 10_000 };

  override async generate(request: GenerateRequest): Promise<Generated> {
    if (isLook(request)) return super.generate(request);
    const isFirst = this.asked.length === 0;
    if (this.asked.length + 1 === this.moves.call) control.clockAhead += this.moves.ms;
    const answer = await super.generate(request);
    if (isFirst) await this.#waiting.promise;
    return answer;
  }

  letGo(): void {
    this.#waiting.resolve(null);
  }
}

/** A model that takes longer than an alarm waits, by the clock, and never answers. */
export class NeverAnswering extends ScriptedModel {
  override async generate(request: GenerateRequest): Promise<Generated> {
    control.clockAhead += 10_000;
    await super.generate(request);
    return new Promise(() => {});
  }
}

export const failing = (): ScriptedModel => new ScriptedModel(new Error("the model is away"));
export const late = (): ScriptedModel => new ScriptedModel(new DeadlineExceeded(1));
export const malformed = (): ScriptedModel => new ScriptedModel("Sure! Here are the facts:");

type Message = { n: number; from: string; text: string };

/** The messages of a prompt that are to be extracted. */
export const messagesIn = ({ messages }: GenerateRequest): Message[] =>
  (messages[0]?.content ?? "")
    .split("Messages to extract from:\n")
    .slice(-1)
    .flatMap((lines) => lines.split("\n"))
    .map((line) => JSON.parse(line) as Message);

/** A model whose answer follows from the messages. */
export class RuledModel extends ScriptedModel {
  override readonly name: string = "ruled";
  readonly #answer: (messages: Message[]) => object;

  constructor(answer: (messages: Message[]) => object) {
    super();
    this.#answer = answer;
  }

  override async generate(request: GenerateRequest): Promise<Generated> {
    if (isLook(request)) return this.look(request);
    this.asked.push(structuredClone(request));
    // The fields that were asked for.
    const fields = Object.keys(request.schema["properties"] ?? {});
    const answer = { facts: [], episodes: [], procedures: [], ...this.#answer(messagesIn(request)) };
    const wanted = Object.entries(answer).filter(([name]) => fields.includes(name));
    return {
      text: JSON.stringify(Object.fromEntries(wanted)),
      usage: { inputTokens: 100, outputTokens: 10 },
    };
  }
}
