import { DeadlineExceeded } from "../deadline.ts";
import { type Generated, type LanguageModel, ModelRefusal } from "../models/language-model.ts";
import type { Metrics } from "./metrics.ts";

/** The same model; each of its calls is a point. */
export const measuredModel = (model: LanguageModel, metrics: Metrics): LanguageModel => ({
  name: model.name,
  ...(model.problem !== undefined && { problem: model.problem }),
  generate: async (request, options) => {
    const started = performance.now();
    const note = (code: string, usage?: Generated["usage"]): void => {
      const ms = performance.now() - started;
      metrics.write({ kind: "model", name: model.name, code, ms, ...(usage && { usage }) });
    };
    try {
      const answer = await model.generate(request, options);
      note("ok", answer.usage);
      return answer;
    } catch (error) {
      note(codeOf(error), error instanceof ModelRefusal ? error.usage : undefined);
      throw error;
    }
  },
});

const codeOf = (error: unknown): string =>
  error instanceof ModelRefusal ? "refused" : error instanceof DeadlineExceeded ? "late" : "failed";
