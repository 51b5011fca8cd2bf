export type GenerateRequest = {
  system: string;
  messages: readonly { role: "user" | "assistant"; content: string }[];
  /** A JSON Schema of the answer, an object. */
  schema: Record<string, unknown>;
  /** Tokens of the answer. */
  maxTokens: number;
};
export type Generated = { text: string; usage: { inputTokens: number; outputTokens: number } };

/** A model that answers in JSON. Its users check the answer: no model is bound to the schema. */
export interface LanguageModel {
  /** The model's name, as the settings have it. */
  readonly name: string;
  /** Why every call fails: the settings are wrong. */
  readonly problem?: string;
  /** Rejects when the model fails, and with `DeadlineExceeded` after `withinMs`. */
  generate(request: GenerateRequest, options: { withinMs: number }): Promise<Generated>;
}
