import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import { idOwner } from "../../domain/thread-id.ts";
import { type Caller, mayRead, mayWrite, outOfReach, wordOf } from "../auth/claims.ts";
import { isShared } from "../../domain/token.ts";
import { auditRefusedAccess } from "./audit.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";
import { countUsers } from "./rates.ts";

/** Whose data a route touches. Its guard refuses everybody else. */
export type RouteOwner = {
  kind: "user" | "id" | "thread" | "named user" | "caller" | "namespace" | "tenant" | "nobody";
  /** The parameter of the path that names the owner. */
  param?: string;
  /** Refuses a caller that may not read the owner's data; marks one that may only read it. */
  reach?: (c: Context<AppEnv>) => Promise<void>;
  /** Refuses a token of one user, behind its scope. Completes the message: "lists the users". */
  wholeTenantFor?: string;
  /** True if a token of one thread gets through. Without it, none does. */
  admits?: (c: Context<AppEnv>, thread: string) => boolean;
  /** Tells the holder of such a token why it does not get through. */
  ofOneThread?: string;
  /** True where a shared owner's data is not even read by a token that names this owner. */
  isOwnOnly?: true;
};

const oneThreadOnly = (caller: Caller): string =>
  `This ${wordOf(caller)} reaches one thread only: the one in its ${caller.bound ? "prop" : "claim"} \`thread\`.`;

const ONE_NAMESPACE_ONLY =
  "This binding reaches one namespace of the registry only: the one in its prop `namespace`.";

/** The user in the path. A shared owner that the token names can be read. */
export const ofUser: RouteOwner = {
  kind: "user",
  param: "user",
  reach: async (c) => reachUser(c, c.req.param("user") ?? ""),
};

type OwnedBy = Pick<RouteOwner, "ofOneThread" | "isOwnOnly">;

/** The owner that an id in the path names: of a thread, an erasure, an ingest or a recall. */
export const ownedBy = (param: string, more: OwnedBy = {}): RouteOwner => ({
  kind: "id",
  param,
  reach: async (c) => {
    const owner = idOwner(c.req.param(param) ?? "");
    if (owner === null) throw new Refusal(fail("not_found"));
    c.set("ownerHash", async () => owner);
    const { user, shared } = c.get("caller");
    if (user === "*" || owner === (await userHash(user))) return;
    allowReading(c, (await Promise.all([...shared].map(userHash))).includes(owner));
  },
  ...more,
});

/** The same of a thread, for a token of that thread too. */
export const ofThread = (param: string): RouteOwner => ({
  ...ownedBy(param),
  kind: "thread",
  admits: (c, thread) => c.req.param(param) === thread,
});

/** The caller's user, or all users for `*`: the handler asks for no other's data. */
export const ofCaller: RouteOwner = { kind: "caller" };

/** The caller's part of the registry: `namespace(c)` puts it before every key. A binding may have one part only. */
export const ofNamespace: RouteOwner = {
  kind: "namespace",
  reach: async (c) => {
    const { namespace: own } = c.get("caller");
    const named = c.req.header("Cairn-Namespace");
    if (own !== undefined && named !== undefined && named !== own)
      throw new Refusal(fail("forbidden", { message: ONE_NAMESPACE_ONLY }));
  },
};

/** The tenant: a token of one user is refused. `action` completes the message. */
export const wholeTenant = (action: string): RouteOwner => ({ kind: "tenant", wholeTenantFor: action });

/** The access of a route for administrators of the tenant. */
export const byAdmin = (action: string) => ({ scope: "admin", owner: wholeTenant(action) }) as const;

/** No user's data, and no token. */
export const nobody: RouteOwner = { kind: "nobody" };

/** Refuses a caller that does not reach the user's data; for a route that names the user elsewhere than in its path. */
export async function reachUser(c: Context<AppEnv>, user: string): Promise<void> {
  c.set("ownerHash", () => userHash(user));
  const caller = c.get("caller");
  if (!mayWrite(caller, user)) allowReading(c, mayRead(caller, user));
}

/** Refuses a token of one thread where the owner does not let it through, so also on routes added later. */
export function refuseOneThread(c: Context<AppEnv>, { admits, ofOneThread }: RouteOwner): void {
  const caller: Caller = c.get("caller");
  if (caller.thread !== undefined && admits?.(c, caller.thread) !== true)
    throw new Refusal(fail("forbidden", { message: ofOneThread ?? oneThreadOnly(caller) }));
}

export function requireWholeTenant(c: Context<AppEnv>, { wholeTenantFor }: RouteOwner): void {
  const caller: Caller = c.get("caller");
  if (wholeTenantFor === undefined || caller.user === "*") return;
  const message = `Only a ${wordOf(caller)} of all users (\`*\`) ${wholeTenantFor}.`;
  throw new Refusal(fail("forbidden", { message }));
}

/** Marks a call as read only, or refuses it if not even reading is allowed. */
function allowReading(c: Context<AppEnv>, readable: boolean): void {
  if (!readable) {
    auditRefusedAccess(c);
    throw new Refusal(outOfReach(c.get("caller")));
  }
  c.set("readOnly", true);
}

/**
 * Counts a call against the rates of the shared owners that it reads. Answers 404 for an owner that the token does not name,
 * as for one that does not exist.
 */
export async function readOwners(c: Context<AppEnv>, owners: readonly string[] = []): Promise<void> {
  const at = owners.findIndex((owner) => !isShared(owner) || !mayRead(c.get("caller"), owner));
  const message = `is not a shared owner (\`shared:…\`) that this ${wordOf(c.get("caller"))} may read`;
  if (at >= 0) throw new Refusal(fail("not_found", { details: [{ path: `body.owners[${at}]`, message }] }));
  await countUsers(c, owners);
}
