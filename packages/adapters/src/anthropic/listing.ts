import { bytesOf, type MemoryFile } from "./files.ts";

/** Levels of a directory that are listed. */
const LEVELS = 2;

/** One file or directory of a listing; only a directory has entries. */
type Node = { bytes: number; entries: Map<string, Node> | undefined };

/**
 * Lists a directory for the model, two levels deep, with sizes; a directory's size is the sum of its files. Hidden
 * files (`.name`, `node_modules`) are left out but count in the sums.
 */
export async function listing(path: string, files: AsyncIterable<MemoryFile>): Promise<string> {
  const root: Node = { bytes: 0, entries: new Map() };
  for await (const file of files) add(root, file.path.slice(path.length + 1).split("/"), bytesOf(file.text));
  return [`${size(root.bytes)}\t${path}`, ...linesOf(root, path, 1)].join("\n");
}

function add(node: Node, [name = "", ...rest]: string[], bytes: number): void {
  node.bytes += bytes;
  const child = node.entries?.get(name) ?? { bytes: 0, entries: undefined };
  node.entries?.set(name, child);
  if (rest.length === 0) {
    child.bytes += bytes;
    return;
  }
  child.entries ??= new Map();
  add(child, rest, bytes);
}

function linesOf({ entries }: Node, path: string, level: number): string[] {
  if (entries === undefined || level > LEVELS) return [];
  return [...entries]
    .filter(([name]) => name !== "" && !name.startsWith(".") && name !== "node_modules")
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, node]) => {
      const at = `${path}/${name}`;
      const slash = node.entries === undefined ? "" : "/";
      return [`${size(node.bytes)}\t${at}${slash}`, ...linesOf(node, at, level + 1)];
    });
}

/** Formats a size: `0B`, `512B`, `1.5K`, `2M`. */
export function size(bytes: number): string {
  const unit = bytes === 0 ? 0 : Math.min(3, Math.floor(Math.log(bytes) / Math.log(1024)));
  const many = bytes / 1024 ** unit;
  return `${Number.isInteger(many) ? many : many.toFixed(1)}${"BKMG"[unit] ?? ""}`;
}
