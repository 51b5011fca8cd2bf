import type { ListNamespacesOperation, MatchCondition } from "@langchain/langgraph-checkpoint";

/** The longest common prefix of all namespaces that can match. */
export function commonPrefix(conditions: readonly MatchCondition[] = []): string[] {
  const prefixes = conditions
    .filter(({ matchType }) => matchType === "prefix")
    .map(({ path }) => path.slice(0, firstWildcard(path)));
  return prefixes.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** The distinct namespaces of an operation, sorted by name. */
export function listed(
  namespaces: Iterable<readonly string[]>,
  { matchConditions = [], maxDepth, offset, limit }: ListNamespacesOperation,
): string[][] {
  const distinct = new Map<string, string[]>();
  for (const namespace of namespaces) {
    if (!matchConditions.every((condition) => matches(namespace, condition))) continue;
    const path = namespace.slice(0, maxDepth);
    // No label contains this sign.
    distinct.set(path.join(":"), path);
  }
  const sorted = [...distinct].toSorted(([a], [b]) => a.localeCompare(b)).map(([, path]) => path);
  const from = offset ?? 0;
  return sorted.slice(from, limit === undefined ? undefined : from + limit);
}

function matches(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  const from = matchType === "prefix" ? 0 : namespace.length - path.length;
  return (
    path.length <= namespace.length &&
    path.every((label, i) => label === "*" || label === namespace[from + i])
  );
}

function firstWildcard(path: readonly string[]): number {
  const at = path.indexOf("*");
  return at === -1 ? path.length : at;
}
