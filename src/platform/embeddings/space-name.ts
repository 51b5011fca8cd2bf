/** All that makes two vectors of one model incomparable. */
type Traits = { dimensions: number; pooling?: string; prompts?: string; at?: string };

/**
 * The name that vectors are stored under: `@cf/baai/bge-base-en-v1.5;768;pooling=cls;prompts=bge-en`. Whatever changes
 * in it, the documents are embedded anew, and until then the old vectors are searched with the old embedder.
 */
export function spaceName(model: string, { dimensions, ...traits }: Traits): string {
  const more = Object.entries(traits).map(([name, value]) => `${name}=${value}`);
  return [model, dimensions, ...more].join(";");
}
