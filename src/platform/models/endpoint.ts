import { AnswerTooLong, type Endpoint, EndpointFailure, post } from "../endpoint-request.ts";
import {
  type Generated,
  type GenerateRequest,
  type LanguageModel,
  LONGEST_ANSWER,
  ModelRefusal,
} from "./language-model.ts";
import { cutOff, usageOf } from "./usage.ts";

type Choice = { message?: unknown; finish_reason?: unknown };

/** A question that no filter refuses. */
const PROBE = [{ role: "user", content: "{}" }] as const;

/** Generates by any endpoint that answers as OpenAI's `POST /v1/chat/completions` does. */
export class EndpointModel implements LanguageModel {
  readonly name: string;
  readonly #endpoint: Endpoint;
  /** False once the endpoint has refused a schema, and answered without one: it is then asked for any JSON object. */
  #takesSchema = true;

  constructor(endpoint: Endpoint, name: string) {
    this.#endpoint = endpoint;
    this.name = name;
  }

  async generate(request: GenerateRequest, { withinMs }: { withinMs: number }): Promise<Generated> {
    const until = this.#endpoint.now() + withinMs;
    try {
      return await this.#askInAnyForm(request, until);
    } catch (error) {
      if (!refusesBody(error)) throw refusalOf(error);
      // The status may also be about the settings: a name of a parameter or of the model. Then any question is refused.
      const probe = { ...request, system: "Answer with an empty JSON object.", messages: PROBE };
      const { usage } = await this.#askInAnyForm(probe, until).catch((refused: unknown) => {
        throw refusesBody(refused) ? new ModelRefusal("settings", refused.message) : refusalOf(refused);
      });
      throw new ModelRefusal("messages", error.message, usage);
    }
  }

  async #askInAnyForm(request: GenerateRequest, until: number): Promise<Generated> {
    const withSchema = this.#takesSchema;
    try {
      return await this.#ask(request, { withSchema, until });
    } catch (error) {
      if (!withSchema || !refusesBody(error)) throw error;
    }
    const generated = await this.#ask(request, { withSchema: false, until });
    this.#takesSchema = false;
    return generated;
  }

  async #ask(
    request: GenerateRequest,
    { withSchema, until }: { withSchema: boolean; until: number },
  ): Promise<Generated> {
    const { system, messages, schema, maxTokens } = request;
    const format = withSchema
      ? { type: "json_schema", json_schema: { name: "answer", strict: true, schema } }
      : { type: "json_object" };
    const body = {
      model: this.name,
      messages: [{ role: "system", content: system }, ...messages],
      response_format: format,
      max_completion_tokens: maxTokens,
    };
    const answer = await post(this.#endpoint, body, { until, most: LONGEST_ANSWER }).catch(
      (error: unknown) => {
        if (error instanceof AnswerTooLong) return null;
        throw error;
      },
    );
    // A wrong answer, which cost what was asked for.
    if (answer === null) return cutOff(request);
    const { choices } = Object(answer) as { choices?: unknown };
    if (!Array.isArray(choices)) throw new Error("the model endpoint answered no `choices`");
    const { message, finish_reason: reason } = Object(choices[0]) as Choice;
    const { content, refusal } = Object(message) as { content?: unknown; refusal?: unknown };
    const text = typeof content === "string" ? content : "";
    const usage = usageOf(answer, { ...request, text });
    if (text === "" && (reason === "content_filter" || typeof refusal === "string"))
      throw new ModelRefusal("messages", "the model refused to answer", usage);
    return { text, usage };
  }
}

/** True for a status that may be about the schema, the messages or the settings. */
const refusesBody = (error: unknown): error is EndpointFailure =>
  error instanceof EndpointFailure && (error.status === 400 || error.status === 422);

/** The error, as a `ModelRefusal` if its status says that the same call would fail again. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof EndpointFailure) || error.status === null) return error;
  const { status, message } = error;
  if (status === 413) return new ModelRefusal("messages", message);
  const isLasting = status < 500 && status !== 408 && status !== 409 && status !== 425 && status !== 429;
  return isLasting ? new ModelRefusal("settings", message) : error;
}
