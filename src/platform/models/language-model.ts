/** Bytes of an answer: many more than the tokens that a model is asked for have. The rest of a longer one is not read. */
export const LONGEST_ANSWER = 1024 * 1024;

export type GenerateRequest = {
  system: string;
  messages: readonly { role: "user" | "assistant"; content: string }[];
  /** A JSON Schema of the answer, an object. */
  schema: Record<string, unknown>;
  /** Tokens of the answer. */
  maxTokens: number;
};
export type Generated = { text: string; usage: { inputTokens: number; outputTokens: number } };

/** The model refuses the messages; the settings (its name, the key); or every call until 0:00 UTC. */
type Refused = "messages" | "settings" | "day";

/** A call that would fail again. `usage`: the tokens that it cost nevertheless. */
export class ModelRefusal extends Error {
  readonly refused: Refused;
  readonly usage: Generated["usage"] | undefined;

  constructor(refused: Refused, message: string, usage?: Generated["usage"]) {
    super(message);
    this.refused = refused;
    this.usage = usage;
  }
}

/** A model that answers in JSON. Its users check the answer: no model is bound to the schema. */
export interface LanguageModel {
  /** The model's name, as the settings have it. */
  readonly name: string;
  /** Why every call fails: the settings are wrong. */
  readonly problem?: string;
  /** Rejects when the model fails, with `ModelRefusal` if it would fail again, and with `DeadlineExceeded` after `withinMs`. */
  generate(request: GenerateRequest, options: { withinMs: number }): Promise<Generated>;
}
