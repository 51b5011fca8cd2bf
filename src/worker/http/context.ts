import type { Bindings } from "../../platform/bindings.ts";
import type { ErrorCode, Result } from "../../domain/errors.ts";
import type { Services } from "../services.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { Caller } from "../auth/claims.ts";

/** A call over a service binding. */
export type BoundCall = {
  /** Who the binding's props say it is; or why the call is refused. */
  caller: Result<Caller>;
  /** The binding in the audit log. */
  tokenId: string | null;
  /** The body, where it is a text. */
  text: string | undefined;
};

export type AppEnv = {
  Bindings: Bindings;
  Variables: {
    requestId: string;
    services: Services;
    /** The route as declared, such as `GET /v1/users/{user}`; absent where none takes the call. */
    route: string | undefined;
    /** The code of the failure that was answered. */
    failure: ErrorCode | undefined;
    /** The prefix of all paths, as `/memory`; empty where Cairn is the whole Worker. */
    basePath: string;
    /** True where another Worker's pages may be of the same origin: Cairn is mounted in it. */
    sharesOrigin: boolean;
    caller: Caller;
    /** The description of how to sign in, for a caller without a valid token; absent where nobody can sign in. */
    signInAt: string | undefined;
    /** Absent for a call over HTTP. */
    bound: BoundCall | undefined;
    /** The owner that the route names; absent where it names none. */
    ownerHash: (() => Promise<UserHash>) | undefined;
    /** True on the path of a shared owner, whom the caller can only read. */
    readOnly: true | undefined;
    /** The `about` of this call's audit event. */
    about: string | undefined;
    /** The body of a write, as bytes and as text; absent for other methods and for an import. */
    body: ArrayBuffer;
    bodyText: string;
    /** The value of `Server-Timing` so far; absent at the beginning. */
    timings: string | undefined;
  };
};
