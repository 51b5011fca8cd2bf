// The messages of a conversation whose messages were edited, or answered more than once: a tree.

type Node = { id: string; parent: string | null | undefined; at: number | undefined };

/**
 * The ids from the root to `current`; without it, to the message without answers that is the newest, the last of them in
 * the list. A parent that is missing, or that closes a circle, ends the path.
 */
export function pathTo(nodes: ReadonlyMap<string, Node>, current: string | null | undefined): string[] {
  const path: string[] = [];
  const seen = new Set<string>();
  const last = current !== null && current !== undefined && nodes.has(current) ? current : newestLeaf(nodes);
  for (let id: string | null | undefined = last; id !== null && id !== undefined && !seen.has(id);) {
    const node = nodes.get(id);
    if (node === undefined) break;
    seen.add(id);
    path.push(id);
    id = node.parent;
  }
  return path.toReversed();
}

function newestLeaf(nodes: ReadonlyMap<string, Node>): string | null {
  const parents = new Set(Array.from(nodes.values(), ({ parent }) => parent));
  let newest: Node | null = null;
  for (const node of nodes.values())
    if (!parents.has(node.id) && (node.at ?? 0) >= (newest?.at ?? 0)) newest = node;
  return newest?.id ?? nodes.keys().next().value ?? null;
}
