import { timeoutError } from "./error.ts";
import type { AttemptLimits, Time } from "./retry.ts";
import type { Reply } from "./transport.ts";

/**
 * One attempt of a call. Each of its steps ends within a limit, even if the transport ignores its signal. Without this a
 * server that accepts a call and never answers, or breaks off without a word, would hold it for ever.
 */
export class Attempt {
  /** Aborts at the limit, and with the caller's signal. */
  readonly signal: AbortSignal;
  /** The call, as a failure names it. */
  call: string | undefined;
  readonly #limit = new AbortController();
  readonly #time: Time;
  readonly #limits: AttemptLimits;
  readonly #started: number;

  constructor(time: Time, limits: AttemptLimits, ended: AbortSignal | undefined) {
    this.#time = time;
    this.#limits = limits;
    this.#started = time.now();
    this.signal = ended === undefined ? this.#limit.signal : AbortSignal.any([ended, this.#limit.signal]);
  }

  /** The outcome of a step; the signal's reason if it does not come in time. Begins none when the time is over. */
  async step<T>(work: () => Promise<T>): Promise<T> {
    const { silenceMs, wholeMs } = this.#limits;
    const ms = Math.min(silenceMs, wholeMs - (this.#time.now() - this.#started));
    const end = () => this.#limit.abort(timeoutError(Math.min(silenceMs, wholeMs), this.call));
    // An answer that keeps coming leaves a timer no time to run.
    if (ms <= 0) end();
    this.signal.throwIfAborted();
    const cancel = this.#time.after(ms, end);
    try {
      return await unlessAborted(this.signal, work());
    } finally {
      cancel();
    }
  }

  /** The parts of a body as they come. A reader that stops lets go of the body. */
  async *parts(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = body.getReader();
    let ended = false;
    try {
      for (;;) {
        const { done, value } = await this.step(() => reader.read());
        ended = done;
        if (done) return;
        yield value;
      }
    } finally {
      // A body that hangs may hang here too.
      if (!ended) reader.cancel().catch(() => {});
    }
  }

  /** The text of a body. */
  async text({ body }: Reply): Promise<string> {
    if (body === null || typeof body === "string") return body ?? "";
    const decoder = new TextDecoder();
    if (body instanceof Uint8Array) return decoder.decode(body);
    let text = "";
    for await (const part of this.parts(body)) text += decoder.decode(part, { stream: true });
    return text + decoder.decode();
  }
}

/** The outcome of the work, or the signal's reason if it aborts first. */
export function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    // `abort` takes any reason; a rejection wants an Error.
    const aborted = () => reject(signal.reason as Error);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}
