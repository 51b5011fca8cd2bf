import type { Proposals, SourceMessage } from "./proposal.ts";
export async function extract(
  _model: unknown,
  _window: { context: readonly SourceMessage[]; messages: readonly SourceMessage[] },
  _kinds: readonly string[],
): Promise<
  | {
      proposals: Proposals;
      prompt: string;
      usage: { calls: number; inputTokens: number; outputTokens: number };
    }
  | {
      failed: "invalid_answer" | "model_failed" | "late";
      detail: string;
      usage: { calls: number; inputTokens: number; outputTokens: number };
    }
> {
  throw new Error("stub");
}
