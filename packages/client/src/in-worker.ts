// The client in Cairn's own Worker: the methods of its entrypoint are those of a client (src/worker/rpc/).
import { Cairn } from "./cairn.ts";
import type { Refusal } from "./entrypoint.ts";
import { isCairnError } from "./error.ts";
import { CairnHttp } from "./http.ts";
import type { Binding, CairnOptions } from "./options.ts";
import { realTime, type Time } from "./retry.ts";
import { overBinding } from "./transport.ts";

/** The calling Worker ends its calls: a timer here would only cost. */
const untimed: Time = { ...realTime, after: () => () => undefined };

/** Makes the clients of an entrypoint, and reads their errors. */
export const clientInWorker = (time: Time = untimed) => ({
  /** The parts of a client that call. `later` works in the Worker that it runs in. */
  partsOf: (binding: Binding, retry: NonNullable<CairnOptions["retry"]>) => {
    const options = { binding, retry };
    // Whatever a method sends stays in this Worker: no text becomes a stream.
    const send = overBinding(binding, (of) => (of instanceof Blob ? of.stream() : of));
    const { later: _, ...parts } = new Cairn(options, time, new CairnHttp(options, time, { send }));
    return parts;
  },
  refusalOf,
  /** The error of Cairn that a failure of the client tells of. */
  causeOf: (error: unknown): unknown => (isCairnError(error) ? (error.cause ?? error) : error),
});

/** The refusal of a call by its error; undefined if the error is a fault of Cairn. */
function refusalOf(error: unknown): Refusal | undefined {
  // Below 400 no route refused anything: it was not reached, or its answer was not understood.
  if (isCairnError(error) && error.status >= 400) {
    const { code, message, status, details, requestId, retryAfter } = error;
    return { code, message: message.slice(`${code}: `.length), status, details, requestId, retryAfter };
  }
  // The client names itself where it refuses an argument or an option.
  if (error instanceof TypeError && error.message.startsWith("cairn: ")) {
    const unanswered = { details: [], requestId: undefined, retryAfter: undefined };
    return { ...unanswered, code: "invalid_request", message: error.message, status: 400 };
  }
  return undefined;
}
