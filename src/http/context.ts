import type { Caller } from "../auth/token.ts";
import type { Bindings } from "../bindings.ts";
import type { Services } from "../services.ts";

export type AppEnv = {
  Bindings: Bindings;
  Variables: { requestId: string; services: Services; caller: Caller; bodyText: string };
};
