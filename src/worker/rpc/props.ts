import { z } from "@hono/zod-openapi";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { BindingProps, bindingName } from "../../domain/schema/binding.ts";
import type { Caller } from "../auth/claims.ts";
import { parseInput } from "../parse-input.ts";

/**
 * The caller that the props of a service binding name. The platform vouches for them: only who may deploy a Worker in the
 * account sets them, and the caller's code cannot.
 */
export function callerOf(props: unknown): Result<Caller> {
  const parsed = parseInput(BindingProps, props ?? {}, "props");
  if (!parsed.ok)
    return fail("invalid_props", { message: sentenceOf(parsed.details), details: parsed.details ?? [] });
  const { users, scopes, shared = [], name: _, ...more } = parsed.value;
  const [user] = users;
  const tokenId = tokenIdOf(props);
  return ok({ ...more, bound: true, user, scopes: new Set(scopes), shared: new Set(shared), tokenId });
}

/** The name of a binding in the audit log, also where its other props are refused. */
export function tokenIdOf(props: unknown): string {
  const { success, data } = z.object({ name: bindingName }).safeParse(props);
  return success ? `binding:${data.name}` : "binding";
}

function sentenceOf(details: { path: string; message: string }[] = []): string {
  const wrong = details.map(({ path, message }) => `\`${path}\` ${message}`).join("; ");
  return `The props of this service binding are refused: ${wrong}. They stand in the calling Worker's wrangler.toml.`;
}
