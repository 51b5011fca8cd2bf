import { normalised, type Vector } from "./embedder.ts";

/**
 * The vectors of an answer, if they are what was asked for: so many, each of so many finite numbers. Rather no vector
 * than one of another text or space: what is thrown here makes the caller try again later.
 */
export function checked(
  answer: unknown,
  { count, dimensions }: { count: number; dimensions: number },
): Vector[] {
  if (!Array.isArray(answer)) throw new Error("the model answered no vectors");
  if (answer.length !== count)
    throw new Error(`the model answered ${answer.length} vectors for ${count} texts`);
  return answer.map((numbers: unknown) => {
    if (!Array.isArray(numbers)) throw new Error("the model answered something else than a vector");
    if (numbers.length !== dimensions)
      throw new Error(`the model answered a vector of ${numbers.length} dimensions, not ${dimensions}`);
    if (!numbers.every(Number.isFinite)) throw new Error("the model answered a vector that is not finite");
    return normalised(Float32Array.from(numbers));
  });
}
