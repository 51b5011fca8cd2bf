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
  const { users, scopes, shared = [], name, ...more } = parsed.value;
  const [user] = users;
  const tokenId = tokenIdBy(name);
  return ok({ ...more, bound: true, user, scopes: new Set(scopes), shared: new Set(shared), tokenId });
}

const NameAlone = z.object({ name: bindingName });

/** The name of a binding in the audit log, whose other props are refused. */
export const tokenIdOf = (props: unknown): string => tokenIdBy(NameAlone.safeParse(props).data?.name);

const tokenIdBy = (name: string | undefined): string => (name === undefined ? "binding" : `binding:${name}`);

function sentenceOf(details: { path: string; message: string }[] = []): string {
  const wrong = details.map(({ path, message }) => `\`${path}\` ${message}`).join("; ");
  return `The props of this service binding are refused: ${wrong}. They stand in the calling Worker's wrangler.toml.`;
}
