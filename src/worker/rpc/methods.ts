import { RpcTarget } from "cloudflare:workers";
import { Cairn } from "../../../packages/client/src/cairn.ts";
import { isCairnError } from "../../../packages/client/src/error.ts";
import type { Binding } from "../../../packages/client/src/options.ts";
import type { Refusal, Remote } from "../../../packages/client/src/entrypoint.ts";
import { realTime, type Time } from "../../../packages/client/src/retry.ts";

type Method = (...args: unknown[]) => unknown;
/** Calls of the client by their names. */
type Calls = Readonly<Record<string, Method>>;

/** The calling Worker ends its calls: a timer here would only cost. */
const untimed: Time = { ...realTime, after: () => () => undefined };

const clientOf = (binding: Binding): Cairn => new Cairn({ binding, retry: false }, untimed);

/** The parts of a client that call. `later` works in the Worker that it runs in. */
const { later: _, ...parts } = clientOf({ call: () => Promise.reject(new Error("this one has only names")) });

/**
 * Gives an entrypoint the methods of the client, which call by its `call`. RPC reaches what a prototype has, so nothing else
 * may be there.
 */
export function addMethods(entrypoint: { prototype: Binding }): void {
  for (const [name, part] of Object.entries(parts)) {
    // The names are those of a client.
    const partOf = (binding: Binding) => clientOf(binding)[name as keyof typeof parts] as unknown;
    const Group = typeof part === "function" ? undefined : groupOf(part);
    Object.defineProperty(
      entrypoint.prototype,
      name,
      Group === undefined
        ? {
            value(this: Binding, ...args: unknown[]) {
              return answerOf(() => (partOf(this) as Method)(...args));
            },
          }
        : {
            get(this: Binding) {
              return new Group(partOf(this) as Calls);
            },
          },
    );
  }
}

/** The class of a group of calls, such as `memories`: the methods of the client's class. */
function groupOf(part: object): new (calls: Calls) => RpcTarget {
  class Group extends RpcTarget {
    readonly #calls: Calls;

    constructor(calls: Calls) {
      super();
      this.#calls = calls;
    }

    // A static is on no prototype.
    static answer(group: Group, name: string, args: unknown[]): Promise<Remote<unknown>> {
      return answerOf(() => group.#calls[name]?.(...args));
    }
  }
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(part)))
    if (name !== "constructor")
      Object.defineProperty(Group.prototype, name, {
        value(this: Group, ...args: unknown[]) {
          return Group.answer(this, name, args);
        },
      });
  return Group;
}

/** The outcome of a call as data: of an error only its message would cross. */
async function answerOf(call: () => unknown): Promise<Remote<unknown>> {
  try {
    const value = call();
    return { ok: true, value: isItems(value) ? await linesOf(value) : await value };
  } catch (error) {
    return { ok: false, error: refusalOf(error) };
  }
}

function refusalOf(error: unknown): Refusal {
  if (isCairnError(error)) {
    const { code, message, status, details, requestId, retryAfter } = error;
    return { code, message: message.slice(`${code}: `.length), status, details, requestId, retryAfter };
  }
  // The client throws a `TypeError` for an argument or an option that it does not take.
  if (!(error instanceof TypeError)) throw error;
  const none = { requestId: undefined, retryAfter: undefined };
  return { code: "invalid_request", message: error.message, status: 400, details: [], ...none };
}

type Items = AsyncGenerator<unknown, void>;

const isItems = (value: unknown): value is Items =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;

/** Items as lines of JSON. Waits for the first one, so that a refusal is an answer and no broken stream. */
async function linesOf(items: Items): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  const first = await items.next();
  const all = (async function* () {
    if (first.done === true) return;
    yield first.value;
    yield* items;
  })();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await all.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      },
      cancel: async () => void (await items.return()),
    },
    { highWaterMark: 0 },
  );
}
