import type { Context } from "hono";
import { namespaceOf } from "../../domain/prompt-cache/keys.ts";
import type { AppEnv } from "./context.ts";

type Validated = { out: { header: { "Cairn-Namespace"?: string | undefined } } };

/** The namespace of the registry that this request uses: the one that it names, else the caller's only one. */
export function namespace(c: Context<AppEnv, string, Validated>): string {
  const { user, namespace: own } = c.get("caller");
  return namespaceOf(user, c.req.valid("header")["Cairn-Namespace"] ?? own);
}
