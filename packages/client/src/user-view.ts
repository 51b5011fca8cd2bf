import type { Entries } from "./entries.ts";
import type { Versioned } from "./http.ts";
import type { Memories } from "./memories.ts";
import type { CallOptions } from "./options.ts";
import type { Threads } from "./threads.ts";

/** A call without its first argument, the user. */
type OfUser<Call> = Call extends (user: string, ...rest: infer Rest) => infer Answer
  ? (...rest: Rest) => Answer
  : never;
type AllOfUser<Part> = { readonly [Name in keyof Part]: OfUser<Part[Name]> };

/** These methods of `threads` take a user. The others take a thread's id, which names its owner. */
type TakesUser = "create" | "resume" | "list" | "all";
const TAKES_USER = /^(?:create|resume|list|all)$/;
type OfNoUser = "createForNobody" | "listAll" | "ofAllUsers";

type OfAnyUser = (user: string, ...rest: never[]) => unknown;
/** The parts of a client that are a user's. */
type Viewed = {
  recall: OfAnyUser;
  context: OfAnyUser;
  ingest: OfAnyUser;
  memories: Memories;
  threads: Threads;
  kv: Entries;
};

/** The calls for one user, without the user as their first argument. Each is the call of the same name of the client. */
export type UserViewOf<Client extends Viewed> = {
  readonly remember: OfUser<Memories["remember"]>;
  readonly recall: OfUser<Client["recall"]>;
  readonly context: OfUser<Client["context"]>;
  readonly ingest: OfUser<Client["ingest"]>;
  readonly memories: AllOfUser<Memories>;
  readonly threads: Omit<Threads, TakesUser | OfNoUser> & AllOfUser<Pick<Threads, TakesUser>>;
  // A conditional type would lose the type parameter of these two.
  readonly kv: AllOfUser<Omit<Entries, "get" | "getVersioned">> & {
    get<T = unknown>(key: string, options?: CallOptions): Promise<T | null>;
    getVersioned<T = unknown>(key: string, options?: CallOptions): Promise<Versioned<T> | null>;
  };
};

export function userView<Client extends Viewed>(
  { recall, context, ingest, memories, threads, kv }: Client,
  user: string,
): UserViewOf<Client> {
  const bound = (part: object, takesUser = /./) =>
    new Proxy(part, {
      get: (_, name) => {
        const call: unknown = Reflect.get(part, name);
        if (typeof call !== "function") return call;
        return takesUser.test(String(name)) ? call.bind(part, user) : call.bind(part);
      },
    });
  // The types above are those of the proxies.
  return {
    remember: memories.remember.bind(memories, user),
    recall: recall.bind(null, user),
    context: context.bind(null, user),
    ingest: ingest.bind(null, user),
    memories: bound(memories),
    threads: bound(threads, TAKES_USER),
    kv: bound(kv),
  } as UserViewOf<Client>;
}
