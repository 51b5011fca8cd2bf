/** Calls at once. */
const AT_ONCE = 5;

/** The results of calls, some at a time, in the order of the items. */
export async function each<T, Result>(
  items: readonly T[],
  call: (item: T) => Promise<Result>,
  done: (results: readonly Result[]) => void = () => {},
): Promise<Result[]> {
  const results: Result[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE) {
    // oxlint-disable-next-line no-await-in-loop -- some at a time
    results.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(call))));
    done(results);
  }
  return results;
}
