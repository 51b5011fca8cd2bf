import type { StreamPart } from "./sdk.ts";

/** Receives each part of a stream that is passed on, and once its end. */
export type Listener = {
  part: (part: StreamPart) => void;
  /** The stream waits for this before it ends. */
  ended: (how: "whole" | "broken off" | "failed") => Promise<void>;
};

/**
 * Passes a stream on, part by part and on demand. The listener also learns of the end if the reader leaves or `abort`
 * fires: some readers then neither read nor cancel.
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
  // The listener reports its own failures; nobody waits here.
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
    // Reads nothing ahead of demand.
    { highWaterMark: 0 },
  );
}
