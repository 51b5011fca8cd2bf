import { RpcTarget } from "cloudflare:workers";
import { Cairn } from "../../../packages/client/src/cairn.ts";
import { isCairnError } from "../../../packages/client/src/error.ts";
import { CairnHttp } from "../../../packages/client/src/http.ts";
import type { Binding, CairnOptions } from "../../../packages/client/src/options.ts";
import type { Refusal, Remote } from "../../../packages/client/src/entrypoint.ts";
import { realTime, type Time } from "../../../packages/client/src/retry.ts";
import { overBinding } from "../../../packages/client/src/transport.ts";
import { errors } from "../../domain/errors.ts";
import { codeOfUnexpected } from "../http/failure.ts";
import { type Fault, faultOf } from "./arguments.ts";

type Retry = NonNullable<CairnOptions["retry"]>;
/** Makes the call of a method by a client without retries, or with the default ones. */
type Call = (retry: Retry) => unknown;
type Method = (...args: unknown[]) => unknown;
/** Calls of the client by their names. */
type Calls = Readonly<Record<string, Method>>;
/** The part of a client of a binding, by a name. */
type PartOf = (binding: Binding, retry: Retry) => unknown;

/** The calling Worker ends its calls: a timer here would only cost. */
const untimed: Time = { ...realTime, after: () => () => undefined };

/** Whatever a method sends stays in this Worker: no text becomes a stream. */
function clientOf(binding: Binding, time = untimed, retry: Retry = false): Cairn {
  const options = { binding, retry };
  const send = overBinding(binding, (of) => (of instanceof Blob ? of.stream() : of));
  return new Cairn(options, time, new CairnHttp(options, time, { send }));
}

/** The parts of a client that call. `later` works in the Worker that it runs in. */
const { later: _, ...parts } = clientOf({ call: () => Promise.reject(new Error("this one has only names")) });

/**
 * Gives an entrypoint the methods of the client, which call by its `call`. RPC reaches what a prototype has, so nothing else
 * may be there.
 */
export function addMethods(entrypoint: { prototype: Binding }, time?: Time): void {
  for (const [name, part] of Object.entries<object>(parts)) {
    // The names are those of a client.
    const partOf: PartOf = (binding, retry) => clientOf(binding, time, retry)[name as keyof typeof parts];
    if (typeof part === "function") {
      // A function of a client is a method.
      const answer = answering(name, part as Method);
      Object.defineProperty(entrypoint.prototype, name, {
        value(this: Binding, ...args: unknown[]) {
          return answer(args, (retry) => (partOf(this, retry) as Method)(...args));
        },
      });
      continue;
    }
    const Group = groupOf(name, part, partOf);
    Object.defineProperty(entrypoint.prototype, name, {
      get(this: Binding) {
        return new Group(this);
      },
    });
  }
}

/** The class of a group of calls, such as `memories`: the methods of the client's class. */
function groupOf(named: string, part: object, partOf: PartOf): new (binding: Binding) => RpcTarget {
  class Group extends RpcTarget {
    readonly #binding: Binding;

    constructor(binding: Binding) {
      super();
      this.#binding = binding;
    }

    // A static is on no prototype.
    static callsOf(group: Group, retry: Retry): Calls {
      return partOf(group.#binding, retry) as Calls;
    }
  }
  const prototype: object = Object.getPrototypeOf(part);
  for (const name of Object.getOwnPropertyNames(prototype).filter((one) => one !== "constructor")) {
    // All other members of a client's class are methods.
    const answer = answering(`${named}.${name}`, Reflect.get(prototype, name) as Method);
    Object.defineProperty(Group.prototype, name, {
      value(this: Group, ...args: unknown[]) {
        return answer(args, (retry) => Group.callsOf(this, retry)[name]?.(...args));
      },
    });
  }
  return Group;
}

/** Answers the calls of a method of the client: with its refusal where the arguments are wrong, else by the call. */
function answering(name: string, { length: required }: Method) {
  // The arguments behind these have defaults.
  const takes = { required, takesBytes: name === "transfer.import" };
  return async (args: unknown[], call: Call): Promise<Remote<unknown>> => {
    const fault = faultOf({ args, ...takes });
    return fault === undefined ? answerOf(call) : { ok: false, error: refusalOfFault(name, fault) };
  };
}

/** The outcome of a call as data: of an error only its message would cross. */
async function answerOf(call: Call): Promise<Remote<unknown>> {
  try {
    const value = call(false);
    // Items of which none was asked for have sent nothing. Nobody but Cairn can retry a later page.
    return { ok: true, value: isItems(value) ? await linesOf(call({}) as Items) : await value };
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
  // Below 400 no route refused anything: it was not reached, or its answer was not understood.
  if (isCairnError(error) && error.status >= 400) {
    const { code, message, status, details, requestId, retryAfter } = error;
    return { code, message: message.slice(`${code}: `.length), status, details, requestId, retryAfter };
  }
  // The client names itself where it refuses an argument or an option; any other `TypeError` is a fault of Cairn.
  if (error instanceof TypeError && error.message.startsWith("cairn: "))
    return { ...UNANSWERED, code: "invalid_request", message: error.message, status: 400 };
  const requestId = crypto.randomUUID();
  const code = codeOfUnexpected(isCairnError(error) ? (error.cause ?? error) : error, requestId);
  const [status, message] = errors[code];
  return { ...UNANSWERED, code, message, status, requestId };
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
        const { done, value } = await all.next().catch((error: unknown) => {
          // Its reader learns that it broke off, and of the error no code.
          console.error({ message: "items of a method broke off", error: String(error) });
          throw error;
        });
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      },
      cancel: async () => void (await items.return()),
    },
    { highWaterMark: 0 },
  );
}
