import type { Endpoint } from "../../src/platform/endpoint-request.ts";
import { bagOfWords } from "./bag-of-words.ts";

type Asked = { model: string; input: string[]; dimensions?: number; encoding_format: string };
export type Call = { url: string; headers: Headers; body: Asked };
/** The outcome of one call: an answer, or nothing at all. */
export type Fate = (call: Call, signal: AbortSignal | null) => Promise<Response> | Response;

const OWN: Record<string, number> = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "bge-m3": 1024,
  "a-model-of-ours": 100,
};

/** As OpenAI answers, but in another order than it was asked in: `index` is what counts. */
export const answer: Fate = ({ body: { model, input, dimensions: wanted } }) => {
  const dimensions = wanted ?? OWN[model] ?? 100;
  if (input.length > 2048) return Response.json({ error: { code: "too_many" } }, { status: 400 });
  const data = input.map((text, index) => ({
    object: "embedding",
    index,
    embedding: bagOfWords(text, { dimensions, tokens: 8192 }),
  }));
  return Response.json({ object: "list", model, data: data.toReversed() });
};

/** An endpoint on a clock of its own, which only its waits move: one fate a call, and good answers when they are used up. */
export class EndpointDouble {
  readonly calls: Call[] = [];
  readonly waits: number[] = [];
  readonly #fates: Fate[];
  #now = 1_000_000;

  constructor(...fates: Fate[]) {
    this.#fates = fates;
  }

  at(url = "https://embeddings.test/v1/embeddings", key?: string): Endpoint {
    return {
      service: "embeddings",
      url: new URL(url),
      ...(key !== undefined && { key }),
      fetch: async (address, { headers, body, signal }) => {
        const call = {
          url: address,
          headers: new Headers(headers),
          body: JSON.parse(body as string) as Asked,
        };
        this.calls.push(call);
        return (this.#fates.shift() ?? answer)(call, signal ?? null);
      },
      wait: async (ms) => {
        this.waits.push(ms);
        this.#now += ms;
      },
      now: () => this.#now,
    };
  }
}
