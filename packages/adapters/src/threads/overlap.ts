/** The longest beginning of `next` that equals the end of `before`, as a count. */
export function overlap(before: readonly string[], next: readonly string[]): number {
  for (let length = Math.min(before.length, next.length); length > 0; length--)
    if (next.slice(0, length).every((one, i) => one === before[before.length - length + i])) return length;
  return 0;
}
