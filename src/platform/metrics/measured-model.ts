import { DeadlineExceeded } from "../deadline.ts";
import {
  type Generated,
  type GenerateRequest,
  type LanguageModel,
  ModelRefusal,
} from "../models/language-model.ts";
import type { Metrics } from "./metrics.ts";

/** The same model; each of its calls is a point. */
export class MeasuredModel implements LanguageModel {
  readonly #model: LanguageModel;
  readonly #metrics: Metrics;

  constructor(model: LanguageModel, metrics: Metrics) {
    this.#model = model;
    this.#metrics = metrics;
  }

  get name(): string {
    return this.#model.name;
  }

  get problem(): string | undefined {
    return this.#model.problem;
  }

  async generate(request: GenerateRequest, options: { withinMs: number }): Promise<Generated> {
    const started = performance.now();
    const note = (code: string, usage?: Generated["usage"]): void =>
      this.#metrics.write({
        kind: "model",
        name: this.name,
        code,
        ms: performance.now() - started,
        ...(usage && { usage }),
      });
    try {
      const answer = await this.#model.generate(request, options);
      note("ok", answer.usage);
      return answer;
    } catch (error) {
      note(codeOf(error), error instanceof ModelRefusal ? error.usage : undefined);
      throw error;
    }
  }
}

const codeOf = (error: unknown): string =>
  error instanceof ModelRefusal ? "refused" : error instanceof DeadlineExceeded ? "late" : "failed";
