import { CairnError } from "../../client/src/index.ts";

/** Statuses that the rest of the import would get too: of the token, a quota, an erasure. */
const STOPS: ReadonlySet<number> = new Set([401, 403, 404, 429]);

/** Sends all items at once. If they are refused, sends each half, down to the items that are to blame. */
export async function inHalves<T>(
  items: readonly T[],
  send: (items: readonly T[]) => Promise<void>,
  failed: (item: T, error: CairnError) => void,
): Promise<void> {
  const [only] = items;
  if (only === undefined) return;
  try {
    return await send(items);
  } catch (error) {
    if (
      !(error instanceof CairnError) ||
      error.status < 400 ||
      error.status >= 500 ||
      STOPS.has(error.status)
    )
      throw error;
    if (items.length === 1) return failed(only, error);
  }
  const middle = Math.ceil(items.length / 2);
  await inHalves(items.slice(0, middle), send, failed);
  await inHalves(items.slice(middle), send, failed);
}
