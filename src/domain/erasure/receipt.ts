import type { UserHash } from "../ids.ts";
import type { Erasure } from "../schema/erasure.ts";

/** States the copies that Cairn cannot reach and that expire by themselves, and the data that was never the user's. */
const STATEMENT = [
  "Every store named in `erased` was read back after the erasure, and held nothing more of it.",
  "Before this receipt, Cairn overwrote with zeros the rows that it deleted from D1. Where a user was erased and the user's object held nothing else by then, it deleted the object's whole storage, and made it anew with numbers and this record. Otherwise it overwrote the free pages of the object's file, as many as it had noted. Neither platform lets an application overwrite the unused bytes within a page that holds other rows, nor the log of SQLite's writes (WAL): a copy of a row that SQLite moved before may stay there, out of reach of every query, until SQLite uses these bytes again.",
  "Cloudflare keeps earlier states of D1 databases (Time Travel) and of Durable Objects (point-in-time recovery) for up to 30 days, and then drops them by itself. They can be reached only by restoring a whole database or object.",
  "Data that a rule of retention or a caller deleted before this erasure are in none of its counts.",
  "Exports that the tenant made before are the tenant's to delete: Cairn knows of none of them, and an import of one brings back what is in it.",
  "Workers Logs and Logpush keep what was logged as long as the tenant has set. The lines that Cairn logs hold no content of memory; Cloudflare may keep them with the URL of their call, and so with the user id and the key of an entry, for 7 days.",
  "D1 keeps this record, and a number under the user's hash that makes late writes change nothing.",
  "Entries of the prompt-cache registry belong to the tenant, and run out by their time to live.",
] as const;

/** The signed contents: the user's hash, and what was erased when. */
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
