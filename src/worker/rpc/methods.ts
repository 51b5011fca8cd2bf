import { RpcTarget } from "cloudflare:workers";
import { Cairn } from "../../../packages/client/src/cairn.ts";
import { isCairnError } from "../../../packages/client/src/error.ts";
import type { Binding } from "../../../packages/client/src/options.ts";
import type { Refusal, Remote } from "../../../packages/client/src/entrypoint.ts";
import { realTime, type Time } from "../../../packages/client/src/retry.ts";
import { type Fault, faultOf } from "./arguments.ts";

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
  for (const [name, part] of Object.entries<object>(parts)) {
    // The names are those of a client.
    const partOf = (binding: Binding) => clientOf(binding)[name as keyof typeof parts] as unknown;
    if (typeof part === "function") {
      // A function of a client is a method.
      const answer = answering(name, part as Method);
      Object.defineProperty(entrypoint.prototype, name, {
        value(this: Binding, ...args: unknown[]) {
          return answer(args, () => (partOf(this) as Method)(...args));
        },
      });
      continue;
    }
    const Group = groupOf(name, part);
    Object.defineProperty(entrypoint.prototype, name, {
      get(this: Binding) {
        return new Group(partOf(this) as Calls);
      },
    });
  }
}

/** The class of a group of calls, such as `memories`: the methods of the client's class. */
function groupOf(named: string, part: object): new (calls: Calls) => RpcTarget {
  class Group extends RpcTarget {
    readonly #calls: Calls;

    constructor(calls: Calls) {
      super();
      this.#calls = calls;
    }

    // A static is on no prototype.
    static callsOf(group: Group): Calls {
      return group.#calls;
    }
  }
  const prototype: object = Object.getPrototypeOf(part);
  for (const name of Object.getOwnPropertyNames(prototype).filter((one) => one !== "constructor")) {
    // All other members of a client's class are methods.
    const answer = answering(`${named}.${name}`, Reflect.get(prototype, name) as Method);
    Object.defineProperty(Group.prototype, name, {
      value(this: Group, ...args: unknown[]) {
        return answer(args, () => Group.callsOf(this)[name]?.(...args));
      },
    });
  }
  return Group;
}

/** Answers the calls of a method of the client: with its refusal where the arguments are wrong, else by the call. */
function answering(name: string, { length: required }: Method) {
  // The arguments behind these have defaults.
  const takes = { required, takesBytes: name === "transfer.import" };
  return async (args: unknown[], call: () => unknown): Promise<Remote<unknown>> => {
    const fault = faultOf({ args, ...takes });
    return fault === undefined ? answerOf(call) : { ok: false, error: refusalOfFault(name, fault) };
  };
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

const UNANSWERED = { details: [], requestId: undefined, retryAfter: undefined };

function refusalOfFault(name: string, { path, message }: Fault): Refusal {
  const sentence = `${name}: \`${path}\` ${message}`;
  return {
    ...UNANSWERED,
    code: "invalid_request",
    message: sentence,
    status: 400,
    details: [{ path, message }],
  };
}

function refusalOf(error: unknown): Refusal {
  if (isCairnError(error)) {
    const { code, message, status, details, requestId, retryAfter } = error;
    return { code, message: message.slice(`${code}: `.length), status, details, requestId, retryAfter };
  }
  // The client throws a `TypeError` for an argument or an option that it does not take.
  if (!(error instanceof TypeError)) throw error;
  return { ...UNANSWERED, code: "invalid_request", message: error.message, status: 400 };
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
