/** True if objects and lists lie deeper in one another than `most`. Does not recurse, as printing such a value does. */
export function isDeeper(value: unknown, most: number): boolean {
  let level = nestedIn([value]);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most) return true;
    level = level.flatMap(nestedIn);
  }
  return false;
}

const nestedIn = (one: object): object[] =>
  Object.values(one).filter((value: unknown) => typeof value === "object" && value !== null);
