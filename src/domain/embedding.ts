/** A unit vector, or null where a text holds nothing that the model knows (it is then found by its words only). */
export type Vector = Float32Array | null;

/**
 * One text's vector with its space: `failed` if the embedder did (`late`: it did not answer in time), null if the text
 * holds nothing that the model knows.
 */
export type TextEmbedding = { model: string; dimensions: number; vector: Vector | "failed"; late?: true };
