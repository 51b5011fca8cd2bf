import type { Caller } from "./claims.ts";

/** Whether the caller may read this user's memory: its own, that of a shared owner in its token, or with `*` all. */
export const mayRead = (caller: Caller, user: string): boolean =>
  mayWrite(caller, user) || (caller.thread === undefined && caller.shared.has(user));

/** Whether the caller may change this user's memory: its own, or with `*` all. What is shared is only read. */
export const mayWrite = ({ user: own, thread }: Caller, user: string): boolean =>
  thread === undefined && (own === "*" || own === user);
