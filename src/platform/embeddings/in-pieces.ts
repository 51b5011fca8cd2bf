import { checked } from "./checked.ts";
import { type EmbedAs, normalised, type Vector } from "./embedder.ts";
import type { Prompts } from "./prompts.ts";
import { split } from "./split.ts";
import { estimatedTokens } from "./tokens.ts";

/** What a model takes, and what it gives. */
export type Shape = {
  dimensions: number;
  /** Of one text, its prompt included. */
  tokens: number;
  /** Of one call. */
  batch: { texts: number; tokens: number };
  /** Put before each text that is sent; where the service does that itself, `prompts.none`. */
  prompts: Prompts;
};

type Piece = { text: string; tokens: number };

/** What a tokenizer adds around a text: [CLS], [SEP] and the like. */
const AROUND = 2;
/** How many calls are under way at once. A Worker has six connections, and others want some too. */
const AT_ONCE = 4;

/**
 * Embeds texts of any length by a model that takes only so much at once: a long one in pieces, whose vectors are
 * averaged, each weighed by its length. A text of white space only is not asked for, and has no vector.
 */
export async function embedInPieces(
  texts: readonly string[],
  { shape, as, call }: { shape: Shape; as: EmbedAs; call: (texts: string[]) => Promise<unknown> },
): Promise<Vector[]> {
  const prompt = shape.prompts[as];
  const around = estimatedTokens(prompt) + AROUND;
  const pieces = texts.map((text) => piecesOf(text, shape.tokens - around));
  const all = pieces.flat().map(({ text, tokens }) => ({ text: prompt + text, tokens: tokens + around }));
  const batches = [...batchesOf(all, shape.batch)];
  const vectors: Vector[] = [];
  for (let i = 0; i < batches.length; i += AT_ONCE) {
    const answered = batches.slice(i, i + AT_ONCE).map(async (batch) => {
      const asked = batch.map(({ text }) => text);
      return checked(await call(asked), { count: asked.length, dimensions: shape.dimensions });
    });
    vectors.push(...(await Promise.all(answered)).flat());
  }
  const next = vectors.values();
  return pieces.map((of) => mean(of.map(({ tokens }) => [next.next().value ?? null, tokens])));
}

function piecesOf(text: string, limit: number): Piece[] {
  return split(text, limit)
    .filter((piece) => piece.trim() !== "")
    .map((piece) => ({ text: piece, tokens: estimatedTokens(piece) }));
}

function* batchesOf(pieces: readonly Piece[], most: Shape["batch"]): Generator<Piece[]> {
  let batch: Piece[] = [];
  let tokens = 0;
  for (const piece of pieces) {
    if (batch.length > 0 && (batch.length === most.texts || tokens + piece.tokens > most.tokens)) {
      yield batch;
      [batch, tokens] = [[], 0];
    }
    batch.push(piece);
    tokens += piece.tokens;
  }
  if (batch.length > 0) yield batch;
}

function mean(weighed: readonly [Vector, number][]): Vector {
  const [first] = weighed;
  if (first === undefined || weighed.length === 1) return first?.[0] ?? null;
  let sum: Float32Array | null = null;
  for (const [vector, weight] of weighed) {
    if (vector === null) continue;
    sum ??= new Float32Array(vector.length);
    for (const [i, x] of vector.entries()) sum[i] = (sum[i] ?? 0) + x * weight;
  }
  return sum && normalised(sum);
}
