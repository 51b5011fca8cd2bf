import type { Context } from "hono";
import type { AppEnv } from "./context.ts";
import type { Author } from "../../../durable-objects/user-memory/contract.ts";
export const authorOf = (c: Context<AppEnv>): Author => ({
  trust: c.get("caller").user === "*" ? "operator" : "user",
});
