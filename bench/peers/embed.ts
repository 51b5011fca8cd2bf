// Cairn's embedded model in Node: the peers search by the same vectors.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";

const name = "static-en-256";
export const DIMENSIONS = 256;

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
type Constructor = new (name: string, vocabulary: ArrayBuffer, table: ArrayBuffer) => Model;

// By an address that the compiler does not follow: what it would find there is typed for workerd, not for Node.
const { href } = new URL("../../src/platform/embeddings/embedded/model.ts", import.meta.url);
const { EmbeddedModel } = (await import(href)) as { EmbeddedModel: Constructor };

const file = (path: string): ArrayBuffer =>
  Uint8Array.from(readFileSync(join(import.meta.dirname, "../../assets/model", name, path))).buffer;
const model = new EmbeddedModel(name, file("vocab.txt"), file("model.safetensors"));

/** The vector of a text that has a word. */
export function embed(text: string): number[] {
  const vector = model.embed(text);
  if (vector === null) throw new Error(`no word of the model is in: ${text}`);
  return Array.from(vector);
}
