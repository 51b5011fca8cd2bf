import type { Context } from "hono";
import { namespaceOf } from "../../domain/prompt-cache/keys.ts";
import type { AppEnv } from "./context.ts";

type Validated = { out: { header: { "Cairn-Namespace"?: string | undefined } } };

/** The namespace of the registry that this request uses. */
export const namespace = (c: Context<AppEnv, string, Validated>): string =>
  namespaceOf(c.get("caller").user, c.req.valid("header")["Cairn-Namespace"]);
