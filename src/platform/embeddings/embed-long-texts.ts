import { type EmbedAs, normalised, type Vector } from "./embedder.ts";
import type { ModelLimits, Prompts } from "./models.ts";
import { split } from "./split.ts";
import { estimatedTokens } from "./tokens.ts";

/** The limits, prompts and output of a model. */
export type ModelSpec = ModelLimits & {
  dimensions: number;
  prompts: Prompts;
};

type Piece = { text: string; tokens: number };

/** A tokenizer adds [CLS], [SEP] and the like around a text. */
const SPECIAL_TOKENS = 2;
/** Concurrent calls. A Worker has six connections, and other requests need some. */
const AT_ONCE = 4;

/**
 * Embeds texts of any length. A long text is split, and its vector is the mean of the pieces' vectors, weighted by
 * length. A text of white space has no vector, and is not sent.
 */
export async function embedLongTexts(
  texts: readonly string[],
  { spec, as, call }: { spec: ModelSpec; as: EmbedAs; call: (texts: string[]) => Promise<unknown> },
): Promise<Vector[]> {
  const prompt = spec.prompts[as];
  const overheadTokens = estimatedTokens(prompt) + SPECIAL_TOKENS;
  const pieces = texts.map((text) => piecesOf(text, spec.tokens - overheadTokens));
  const all = pieces
    .flat()
    .map(({ text, tokens }) => ({ text: prompt + text, tokens: tokens + overheadTokens }));
  const batches = [...batchesOf(all, spec.batch)];
  const vectors: Vector[] = [];
  for (let i = 0; i < batches.length; i += AT_ONCE) {
    const answers = batches.slice(i, i + AT_ONCE).map(async (batch) => {
      const input = batch.map(({ text }) => text);
      return requireVectors(await call(input), { count: input.length, dimensions: spec.dimensions });
    });
    vectors.push(...(await Promise.all(answers)).flat());
  }
  const next = vectors.values();
  return pieces.map((of) => mean(of.map(({ tokens }) => [next.next().value ?? null, tokens])));
}

function piecesOf(text: string, limit: number): Piece[] {
  return split(text, limit)
    .filter((piece) => piece.trim() !== "")
    .map((piece) => ({ text: piece, tokens: estimatedTokens(piece) }));
}

function* batchesOf(pieces: readonly Piece[], most: ModelLimits["batch"]): Generator<Piece[]> {
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

/** The vectors of an answer. Throws unless it has one vector of finite numbers for each text: the caller retries later. */
function requireVectors(
  answer: unknown,
  { count, dimensions }: { count: number; dimensions: number },
): Vector[] {
  if (!Array.isArray(answer)) throw new Error("the model answered no vectors");
  if (answer.length !== count)
    throw new Error(`the model answered ${answer.length} vectors for ${count} texts`);
  return answer.map((numbers: unknown) => {
    if (!Array.isArray(numbers)) throw new Error("the model answered a value that is not a vector");
    if (numbers.length !== dimensions)
      throw new Error(`the model answered a vector of ${numbers.length} dimensions, not ${dimensions}`);
    if (!numbers.every(Number.isFinite)) throw new Error("the model answered a vector that is not finite");
    return normalised(Float32Array.from(numbers));
  });
}
