import { createHash } from "node:crypto";
import type { SourceName } from "./source.ts";

/** The id of an imported thread, the same in each run: `<user hash>.<uuid>`. A hash is where a uuid of version 7 has its time. */
export function threadIdOf(owner: string, source: SourceName, id: string): string {
  const hex = createHash("sha256").update(`cairn:import:${source}:${id}`).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `7${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `${owner}.${groups.join("-")}`;
}
