import { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "./context.ts";
import { routedPath } from "./kv-path.ts";
import { invalid, Refusal } from "./failure.ts";

/** A router whose failed validations end in the error envelope. */
export const newRouter = (): OpenAPIHono<AppEnv> =>
  new OpenAPIHono<AppEnv>({
    getPath: routedPath,
    defaultHook: (result) => {
      if (!result.success) throw new Refusal({ ok: false, ...invalid(result.target, result.error.issues) });
    },
  });
