// Minimises a convex function with a penalty on the sum of the absolute weights.

/** `sign`: 1 or −1 keeps a weight on that side of 0, 0 leaves it free. `penalty`: of its absolute value. */
type Weight = { sign: -1 | 0 | 1; penalty: number };

const [STEPS, RATE] = [400, 0.05];
/** The decay of the means of slopes and of their squares; a small number instead of 0. */
const [MEAN, SQUARE, SMALL] = [0.9, 0.999, 1e-3];

/** Proximal Adam: a step by each weight's own rate, then as much less as the penalty takes. */
export function minimise(
  weights: readonly Weight[],
  slopesAt: (values: Float64Array) => Float64Array,
): Float64Array {
  const values = new Float64Array(weights.length);
  const [mean, square] = [new Float64Array(weights.length), new Float64Array(weights.length)];
  for (let step = 1; step <= STEPS; step++) {
    const slopes = slopesAt(values);
    for (const [i, { sign, penalty }] of weights.entries()) {
      const slope = slopes[i] ?? 0;
      mean[i] = MEAN * (mean[i] ?? 0) + (1 - MEAN) * slope;
      square[i] = SQUARE * (square[i] ?? 0) + (1 - SQUARE) * slope * slope;
      const rate = RATE / (Math.sqrt((square[i] ?? 0) / (1 - SQUARE ** step)) + SMALL);
      const moved = (values[i] ?? 0) - (rate * (mean[i] ?? 0)) / (1 - MEAN ** step);
      const side = sign === 0 ? Math.sign(moved) : sign;
      values[i] = side * Math.max(0, side * moved - rate * penalty);
    }
  }
  return values;
}
