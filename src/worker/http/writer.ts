import type { Context } from "hono";
import { invalidField } from "../../domain/errors.ts";
import type { Writer } from "../../domain/memory/record.ts";
import { leastOf } from "../../domain/memory/trust.ts";
import { type Trust, trust as trusts } from "../../domain/schema/provenance.ts";
import type { Caller } from "../auth/claims.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const TRUST_HEADER = "Cairn-Trust";
const ADAPTER_HEADER = "Cairn-Adapter";
const ADAPTER = /^[\w./@-]{1,64}$/;

/** The writer of a request's memories: its token, and the headers, which can only lower the trust. */
export function writerOf(c: Context<AppEnv>): Writer {
  const { tokenId, ...caller } = c.get("caller");
  const lowered = c.req.header(TRUST_HEADER);
  const adapter = c.req.header(ADAPTER_HEADER);
  if (adapter !== undefined && !ADAPTER.test(adapter))
    throw new Refusal(
      invalidField(`header.${ADAPTER_HEADER}`, "must be 1 to 64 of A–Z, a–z, 0–9 and _ . / @ -"),
    );
  const own = trustOf(caller);
  return {
    trust: lowered === undefined ? own : leastOf(own, trustIn(lowered)),
    ...(caller.trust !== undefined && { vouches: true as const }),
    writtenBy: { ...(tokenId !== undefined && { tokenId }), ...(adapter !== undefined && { adapter }) },
  };
}

/** The trust that a token stands for: as its claim says; else that of the user, or of a backend for a token of all users. */
const trustOf = ({ user, trust }: Pick<Caller, "user" | "trust">): Trust =>
  trust ?? (user === "*" ? "operator" : "user");

function trustIn(header: string): Trust {
  const { success, data } = trusts.safeParse(header);
  if (success) return data;
  throw new Refusal(invalidField(`header.${TRUST_HEADER}`, `must be one of ${trusts.options.join(", ")}`));
}
