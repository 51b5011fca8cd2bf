export interface LanguageModel {
  readonly name: string;
  readonly problem?: string;
  generate(
    request: {
      system: string;
      messages: readonly { role: "user" | "assistant"; content: string }[];
      schema: Record<string, unknown>;
      maxTokens: number;
    },
    options: { withinMs: number },
  ): Promise<{ text: string; usage: { inputTokens: number; outputTokens: number } }>;
}
