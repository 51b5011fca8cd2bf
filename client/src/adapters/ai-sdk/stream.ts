import type { StreamPart } from "./sdk.ts";

/** What is told of a stream that is passed on: each part, then once how it ended. */
export type Listener = {
  part: (part: StreamPart) => void;
  /** Is waited for before the stream ends. */
  ended: (how: "whole" | "broken off" | "failed") => Promise<void>;
};

/**
 * A stream passed on part by part, as they are asked for and as they are. Who listens is told of its end also where its
 * reader goes away, or `abort` tells so: some readers then neither read on nor cancel.
 */
export function passedOn(
  stream: ReadableStream<StreamPart>,
  { part, ended }: Listener,
  abort: AbortSignal | undefined,
): ReadableStream<StreamPart> {
  const reader = stream.getReader();
  let end: Promise<void> | undefined;
  const endOnce = (how: "whole" | "broken off" | "failed") => {
    abort?.removeEventListener("abort", aborted);
    return (end ??= ended(how));
  };
  // Who listens tells what fails of it: here, nobody waits.
  const aborted = () => void endOnce("broken off").catch(() => undefined);
  abort?.addEventListener("abort", aborted, { once: true });

  return new ReadableStream<StreamPart>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            await endOnce(abort?.aborted === true ? "broken off" : "whole");
            controller.close();
            return;
          }
          part(value);
          controller.enqueue(value);
        } catch (error) {
          await endOnce(abort?.aborted === true ? "broken off" : "failed");
          throw error;
        }
      },
      async cancel(reason) {
        await Promise.all([reader.cancel(reason), endOnce("broken off")]);
      },
    },
    // Nothing is read before it is asked for.
    { highWaterMark: 0 },
  );
}
