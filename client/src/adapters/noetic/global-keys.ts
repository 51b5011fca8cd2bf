/** Noetic keeps the state of a layer of the scope `global` under `layers/<layerId>/__global__/`. */
const GLOBAL = "__global__";

/** Whether a key is of the scope `global`. The id of such a layer may hold no `/`. */
export const isGlobal = (key: string): boolean => /^layers\/[^/]+\/__global__\//.test(key);

/** Whether a key with this prefix may be. */
export function mayHoldGlobal(prefix: string): boolean {
  const [first = "", layerId, scopeKey, ...rest] = prefix.split("/");
  if (layerId === undefined) return "layers".startsWith(first);
  if (first !== "layers") return false;
  if (scopeKey === undefined) return true;
  return layerId !== "" && (rest.length === 0 ? GLOBAL.startsWith(scopeKey) : scopeKey === GLOBAL);
}
