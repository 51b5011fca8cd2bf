import type { UserHash } from "../ids.ts";
import type { Erasure } from "../schema/erasure.ts";

/** What stays where Cairn cannot reach, and goes by itself; and what never was the user's. */
const STATEMENT = [
  "Every store named in `erased` was read back after the erasure, and held nothing more of it.",
  "Cloudflare keeps earlier states of D1 databases (Time Travel) and of Durable Objects (point-in-time recovery) for up to 30 days, and then drops them by itself. They can be reached only by restoring a whole database or object.",
  "Exports that the tenant made before are the tenant's to delete: Cairn knows of none of them, and an import of one brings back what is in it.",
  "Workers Logs and Logpush keep what was logged as long as the tenant has set. Cairn logs no content of memory and no user ids.",
  "A number by the user's hash stays in D1, so that a write that was on its way lands on nothing; and this record.",
  "Entries of the prompt-cache registry belong to the tenant, and run out by their time to live.",
] as const;

/** What is signed: whom it is about, by the hash only, and what was erased when. */
export const receiptOf = (user: UserHash, erasure: Erasure & { finishedAt: number }) => ({
  jti: erasure.id,
  sub: user,
  of: erasure.of,
  requestedAt: erasure.requestedAt,
  finishedAt: erasure.finishedAt,
  erased: erasure.steps.map(({ store, erased, kept }) => ({ store, counts: erased, ...(kept && { kept }) })),
  statement: STATEMENT,
});
export type Receipt = ReturnType<typeof receiptOf>;
