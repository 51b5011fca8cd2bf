/**
 * `ReadableStream.from`, which the types lack. It makes each chunk when the one before was read. `brokenOff`: hears of the error that
 * ends the chunks.
 */
export const readableFromGenerator = (
  chunks: AsyncGenerator<Uint8Array, void>,
  brokenOff: (reason: unknown) => void = () => {},
): ReadableStream =>
  new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next().catch((error: unknown) => {
        brokenOff(error);
        throw error;
      });
      // Both throw once the reader is gone, which is no failure of the chunks.
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => {
      await chunks.return();
    },
  });
