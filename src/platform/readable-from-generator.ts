/** As ReadableStream.from, which the types do not know yet: the next chunk is made when the one before was taken. */
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
