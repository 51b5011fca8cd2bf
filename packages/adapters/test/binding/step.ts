/** A call that a test has one of the Workers make. In a file without a Worker's types, which the test in Node lacks. */
export type Step = { binding: "MEMORY" | "OF_ALICE" | "WRONG"; method: string; args: unknown[] };
