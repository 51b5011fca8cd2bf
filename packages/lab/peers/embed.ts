// Cairn's embedded model in Node: the peers search by the same vectors.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";

export const MODEL = "static2-en-256";
export const DIMENSIONS = 256;
const NEWLINE = 10;

// A Worker's module of WebAssembly is a compiled one; Node's is an instance.
registerHooks({
  load: (url, context, next) =>
    url.endsWith(".wasm")
      ? {
          format: "module",
          shortCircuit: true,
          source: `import { readFileSync } from "node:fs";
            export default new WebAssembly.Module(readFileSync(new URL(${JSON.stringify(url)})));`,
        }
      : next(url, context),
});

type Model = { embed: (text: string) => Float32Array | null };
type Vocabulary = new (file: Uint8Array, size: number) => object;
type EmbeddedModel = new (name: string, vocabulary: object, table: ArrayBuffer) => Model;

// By an address that the compiler does not follow: what it would find there is typed for workerd, not for Node.
const at = (path: string) =>
  new URL(`../../../src/platform/embeddings/embedded/${path}`, import.meta.url).href;
const { Vocabulary } = (await import(at("vocabulary.ts"))) as { Vocabulary: Vocabulary };
const { EmbeddedModel } = (await import(at("model.ts"))) as { EmbeddedModel: EmbeddedModel };

const file = (path: string) =>
  Uint8Array.from(readFileSync(join(import.meta.dirname, "../../../assets/model", path)));
const tokens = file("vocab.txt");
const vocabulary = new Vocabulary(tokens, tokens.filter((byte) => byte === NEWLINE).length);
const model = new EmbeddedModel(MODEL, vocabulary, file(`${MODEL}/model.safetensors`).buffer);

/** The vector of a text that has a word. */
export function embed(text: string): number[] {
  const vector = model.embed(text);
  if (vector === null) throw new Error(`no word of the model is in: ${text}`);
  return Array.from(vector);
}
