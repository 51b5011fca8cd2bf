/**
 * `ReadableStream.from`, which the types lack. It makes each chunk when the one before was read. `brokenOff`: hears of the error that
 * ends the stream.
 */
export const readableFromGenerator = (
  chunks: AsyncGenerator<Uint8Array, void>,
  brokenOff: (reason: unknown) => void = () => {},
): ReadableStream =>
  new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        brokenOff(error);
        throw error;
      }
    },
    cancel: async () => {
      await chunks.return();
    },
  });
