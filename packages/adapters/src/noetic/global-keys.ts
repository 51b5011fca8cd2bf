/** Noetic keeps the state of a layer of the scope `global` under `layers/<layerId>/__global__/`. */
const GLOBAL = "__global__";

/** True for a key of the scope `global`. The id of such a layer must not contain `/`. */
export const isGlobal = (key: string): boolean => /^layers\/[^/]+\/__global__\//.test(key);

/** True if a key with this prefix may be of the scope `global`. */
export function mayHoldGlobal(prefix: string): boolean {
  const [first = "", layerId, scopeKey, ...rest] = prefix.split("/");
  if (layerId === undefined) return "layers".startsWith(first);
  if (first !== "layers") return false;
  if (scopeKey === undefined) return true;
  return layerId !== "" && (rest.length === 0 ? GLOBAL.startsWith(scopeKey) : scopeKey === GLOBAL);
}
