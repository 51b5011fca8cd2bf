/**
 * What the tests turn in the Worker under test: tests and Worker share one isolate, and so this object. A test
 * puts back what it turns (`restore`).
 */
export const control = {
  /** Added to the clock of the Worker and of its objects, in milliseconds. */
  clockAhead: 0,
  /** Stops the clock at this time. */
  clockAt: null as number | null,
  /**
   * Makes D1's writes fail: `before` nothing happens, `after` all of it does and the answer is lost; `full` and
   * `refused` let only puts fail, as D1 does.
   */
  d1Writes: "ok" as "ok" | "before" | "after" | "full" | "refused",
  d1Reads: "ok" as "ok" | "fail",
  embedder: "ok" as "ok" | "fail",
  /** A text that the embedder refuses, and with it the whole batch that it is in. */
  unembeddable: null as string | null,
  /** Called inside the embedder, before it embeds. */
  duringEmbed: async (): Promise<void> => {},
  /** Called inside D1's writes, before they happen: a place to hold them or to look at what is going on. */
  duringD1Write: async (): Promise<void> => {},
};

const untouched = { ...control };
export const restore = (): void => {
  Object.assign(control, untouched);
};
