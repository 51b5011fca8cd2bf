/** `<userHash>.<uuid v7>`, the uuid in small letters. */
const THREAD_ID =
  /^([A-Za-z0-9_-]{22})\.[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The same, and what the id of a recall has after it. */
const OWNED_ID = new RegExp(`${THREAD_ID.source.slice(0, -1)}(?:\\.[A-Za-z0-9_-]+)?$`);

/** The user's hash in the id of a thread, an erasure, an ingest or a recall, or null if `id` is none. */
export const idOwner = (id: string): string | null => OWNED_ID.exec(id)?.[1] ?? null;

/** The user's hash in a thread id, or null if `id` is not one. */
export const threadOwner = (id: string): string | null => THREAD_ID.exec(id)?.[1] ?? null;
