import { type Endpoint, EndpointFailure, post } from "../endpoint-request.ts";
import { type Generated, type GenerateRequest, type LanguageModel, ModelRefusal } from "./language-model.ts";
import { usageOf } from "./usage.ts";

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
    const withSchema = this.#takesSchema;
    try {
      return await this.#ask(request, { withSchema, until });
    } catch (error) {
      if (!withSchema || !refusesBody(error)) throw refusalOf(error);
    }
    try {
      const generated = await this.#ask(request, { withSchema: false, until });
      this.#takesSchema = false;
      return generated;
    } catch (error) {
      throw refusalOf(error);
    }
  }

  async #ask(
    { system, messages, schema, maxTokens }: GenerateRequest,
    { withSchema, until }: { withSchema: boolean; until: number },
  ): Promise<Generated> {
    const format = withSchema
      ? { type: "json_schema", json_schema: { name: "answer", strict: true, schema } }
      : { type: "json_object" };
    const body = {
      model: this.name,
      messages: [{ role: "system", content: system }, ...messages],
      response_format: format,
      max_completion_tokens: maxTokens,
    };
    const answer = await post(this.#endpoint, body, until);
    const { choices } = Object(answer) as { choices?: unknown };
    if (!Array.isArray(choices)) throw new Error("the model endpoint answered no `choices`");
    const { content } = Object(Object(choices[0]).message) as { content?: unknown };
    // A model that refuses to answer, or is filtered, gives no text.
    const text = typeof content === "string" ? content : "";
    return { text, usage: usageOf(answer, { system, messages, text }) };
  }
}

/** True for a status that may be about the schema. */
const refusesBody = (error: unknown): boolean =>
  error instanceof EndpointFailure && (error.status === 400 || error.status === 422);

/** The error, as a `ModelRefusal` if its status says that the same call would fail again. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof EndpointFailure) || error.status === null) return error;
  const { status, message } = error;
  if (refusesBody(error) || status === 413) return new ModelRefusal("messages", message);
  const isLasting = status < 500 && status !== 408 && status !== 409 && status !== 425 && status !== 429;
  return isLasting ? new ModelRefusal("settings", message) : error;
}
