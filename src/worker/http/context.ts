import type { Bindings } from "../../platform/bindings.ts";
import type { Services } from "../services.ts";
import type { Caller } from "../auth/claims.ts";

export type AppEnv = {
  Bindings: Bindings;
  Variables: {
    requestId: string;
    services: Services;
    /** The path that comes before those of the routes, as `/memory`; empty where Cairn is the whole Worker. */
    basePath: string;
    caller: Caller;
    /** Set where the path is of a shared owner whom the caller may only read. */
    readOnly: true | undefined;
    /** What the audit log says of the call besides its name. */
    about: string | undefined;
    /** The body of a write, in its bytes and as text; absent where the method has none. */
    body: ArrayBuffer;
    bodyText: string;
    /** The parts of the answer that were timed, as `Server-Timing` lists them; absent while there is none. */
    timings: string | undefined;
  };
};
