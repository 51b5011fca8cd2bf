import type { WorkersAi } from "../../src/platform/embeddings/workers-ai.ts";
import { bagOfWords } from "./bag-of-words.ts";

type Model = { dimensions: number; tokens: number; texts: number; fields: readonly string[] };

/** The models' pages: dimensions, tokens of a text, texts of a call, and the fields that the schema has. */
const bgeEn = { tokens: 512, texts: 100, fields: ["text", "pooling"] };
const models: Record<string, Model> = {
  "@cf/baai/bge-small-en-v1.5": { ...bgeEn, dimensions: 384 },
  "@cf/baai/bge-base-en-v1.5": { ...bgeEn, dimensions: 768 },
  "@cf/baai/bge-large-en-v1.5": { ...bgeEn, dimensions: 1024 },
  "@cf/baai/bge-m3": { dimensions: 1024, tokens: 8192, texts: 100, fields: ["text", "truncate_inputs"] },
  "@cf/google/embeddinggemma-300m": { dimensions: 768, tokens: 2048, texts: 100, fields: ["text"] },
  "@cf/qwen/qwen3-embedding-0.6b": {
    dimensions: 1024,
    tokens: 8192,
    texts: 32,
    fields: ["queries", "documents", "text", "instruction"],
  },
};

/** Workers AI as far as it embeds: knows its models, refuses what their schemas do not have, and notes what it was asked. */
export class WorkersAiDouble implements WorkersAi {
  readonly asked: { model: string; input: Record<string, unknown> }[] = [];

  async run(name: string, input: Record<string, unknown>): Promise<unknown> {
    this.asked.push({ model: name, input });
    const model = models[name];
    if (model === undefined) throw new Error(`5007: No such model ${name} or task`);
    const odd = Object.keys(input).find((field) => !model.fields.includes(field));
    if (odd !== undefined) throw new Error(`5006: unknown property ${odd}`);
    const texts = [input["text"] ?? [], input["queries"] ?? [], input["documents"] ?? []].flat() as string[];
    if (texts.length > model.texts) throw new Error(`5006: at most ${model.texts} texts`);
    // Both change the vectors.
    const more = [input["queries"] && input["instruction"], input["pooling"]].join(" ");
    const data = texts.map((text) => bagOfWords(text && `${text} ${more}`, model));
    return { shape: [texts.length, model.dimensions], data };
  }
}
