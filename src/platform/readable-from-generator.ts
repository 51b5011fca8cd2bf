/** `ReadableStream.from`, which the types lack. It makes each chunk when the one before was read. */
export const readableFromGenerator = (chunks: AsyncGenerator<Uint8Array, void>): ReadableStream =>
  new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => {
      await chunks.return();
    },
  });
