import { RpcTarget } from "cloudflare:workers";
import type { BindingAnswer, BindingCall } from "../../domain/binding.ts";
import { errors } from "../../domain/errors.ts";
import { codeOfUnexpected } from "../http/failure.ts";
import { type Fault, faultOf } from "./arguments.ts";

/** Answers the calls of an entrypoint. */
type Caller = { call: (call: BindingCall) => Promise<BindingAnswer> };
/** No retries, or the default ones. */
type Retry = false | Record<string, never>;
/** A failure as it crosses, where an error would lose its fields. */
type Refusal = {
  code: string;
  message: string;
  status: number;
  details: readonly { path: string; message: string }[];
  requestId: string | undefined;
  retryAfter: number | undefined;
};

/** The client of the API, whose methods the entrypoint has. The entry hands it over, as the Worker imports no package. */
export type Client = {
  /** The parts of a client that call: methods, and objects with methods. */
  partsOf: (caller: Caller, retry: Retry) => object;
  /** The refusal of a call by its error; undefined if the error is a fault of Cairn. */
  refusalOf: (error: unknown) => Refusal | undefined;
  /** The error of Cairn that a failure of the client tells of. */
  causeOf: (error: unknown) => unknown;
};

type Answer = { ok: true; value: unknown } | { ok: false; error: Refusal };
/** Makes the call of a method. */
type Call = (retry: Retry) => unknown;
type Method = (...args: unknown[]) => unknown;
/** Calls of the client by their names. */
type Calls = Readonly<Record<string, Method>>;
/** The part of a client, by a name. */
type PartOf = (caller: Caller, retry: Retry) => unknown;

const nobody: Caller = { call: () => Promise.reject(new Error("this one has only names")) };

/**
 * Gives an entrypoint the methods of the client, which call by its `call`. RPC reaches what a prototype has, so nothing else
 * may be there.
 */
export function addMethods(entrypoint: { prototype: Caller }, client: Client): void {
  const parts: [string, object][] = Object.entries(client.partsOf(nobody, false));
  for (const [name, part] of parts) {
    const partOf: PartOf = (caller, retry) => Reflect.get(client.partsOf(caller, retry), name);
    if (typeof part === "function") {
      // A function of a client is a method.
      const answer = answering({ name, method: part as Method, client });
      Object.defineProperty(entrypoint.prototype, name, {
        value(this: Caller, ...args: unknown[]) {
          return answer(args, (retry) => (partOf(this, retry) as Method)(...args));
        },
      });
      continue;
    }
    const Group = groupOf({ name, part, partOf, client });
    Object.defineProperty(entrypoint.prototype, name, {
      get(this: Caller) {
        return new Group(this);
      },
    });
  }
}

/** A part of the client that has methods of its own, such as `memories`. */
type Grouped = { name: string; part: object; partOf: PartOf; client: Client };

/** The class of a group of calls: the methods of the client's class. */
function groupOf({ name: group, part, partOf, client }: Grouped): new (caller: Caller) => RpcTarget {
  class Group extends RpcTarget {
    readonly #caller: Caller;

    constructor(caller: Caller) {
      super();
      this.#caller = caller;
    }

    // A static is on no prototype.
    static callsOf(one: Group, retry: Retry): Calls {
      return partOf(one.#caller, retry) as Calls;
    }
  }
  const prototype: object = Object.getPrototypeOf(part);
  for (const name of Object.getOwnPropertyNames(prototype).filter((one) => one !== "constructor")) {
    // All other members of a client's class are methods.
    const method = Reflect.get(prototype, name) as Method;
    const answer = answering({ name: `${group}.${name}`, method, client });
    Object.defineProperty(Group.prototype, name, {
      value(this: Group, ...args: unknown[]) {
        return answer(args, (retry) => Group.callsOf(this, retry)[name]?.(...args));
      },
    });
  }
  return Group;
}

/** Answers the calls of a method of the client: with its refusal where the arguments are wrong, else by the call. */
function answering({ name, method, client }: { name: string; method: Method; client: Client }) {
  // The arguments behind these have defaults.
  const takes = { required: method.length, takesBytes: name === "transfer.import" };
  return async (args: unknown[], call: Call): Promise<Answer> => {
    const fault = faultOf({ args, ...takes });
    return fault === undefined ? answerOf(call, client) : { ok: false, error: refusalOfFault(name, fault) };
  };
}

/** The outcome of a call as data: of an error only its message would cross. */
async function answerOf(call: Call, client: Client): Promise<Answer> {
  try {
    const value = call(false);
    // Items of which none was asked for have sent nothing. Nobody but Cairn can retry a later page.
    return { ok: true, value: isItems(value) ? await linesOf(call({}) as Items) : await value };
  } catch (error) {
    return { ok: false, error: client.refusalOf(error) ?? unexpected(client.causeOf(error)) };
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

function unexpected(error: unknown): Refusal {
  const requestId = crypto.randomUUID();
  const code = codeOfUnexpected(error, requestId);
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
