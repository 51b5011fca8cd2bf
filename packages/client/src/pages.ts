type List<T> = { items: readonly T[]; cursor?: string | undefined };

/** The items of all pages of a list, asked for page by page as they are used. */
export async function* itemsOf<T>(
  page: (cursor: string | undefined) => Promise<List<T>>,
  from?: string,
): AsyncGenerator<T, void, undefined> {
  let cursor = from;
  do {
    const { items, cursor: next } = await page(cursor);
    yield* items;
    cursor = next;
  } while (cursor !== undefined);
}
