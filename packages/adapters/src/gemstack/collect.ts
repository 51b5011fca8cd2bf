/** Collects a paged list: all items, or the first `most`. */
export async function collect<T>(items: AsyncIterable<T>, most = Infinity): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) if (all.push(item) >= most) break;
  return all;
}
