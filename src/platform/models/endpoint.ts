import { type Endpoint, EndpointFailure, post } from "../endpoint-request.ts";
import type { Generated, GenerateRequest, LanguageModel } from "./language-model.ts";
import { usageOf } from "./usage.ts";

/** Generates by any endpoint that answers as OpenAI's `POST /v1/chat/completions` does. */
export class EndpointModel implements LanguageModel {
  readonly name: string;
  readonly #endpoint: Endpoint;
  /** False once the endpoint has refused a schema: it is then asked for any JSON object. */
  #takesSchema = true;

  constructor(endpoint: Endpoint, name: string) {
    this.#endpoint = endpoint;
    this.name = name;
  }

  async generate(request: GenerateRequest, { withinMs }: { withinMs: number }): Promise<Generated> {
    const until = this.#endpoint.now() + withinMs;
    try {
      return await this.#ask(request, until);
    } catch (error) {
      const refused = error instanceof EndpointFailure && (error.status === 400 || error.status === 422);
      if (!refused || !this.#takesSchema) throw error;
      this.#takesSchema = false;
      return this.#ask(request, until);
    }
  }

  async #ask({ system, messages, schema, maxTokens }: GenerateRequest, until: number): Promise<Generated> {
    const format = this.#takesSchema
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
    const text: unknown = Array.isArray(choices) ? Object(Object(choices[0]).message).content : undefined;
    if (typeof text !== "string") throw new Error("the model endpoint answered no text");
    return { text, usage: usageOf(answer, { system, messages, text }) };
  }
}
