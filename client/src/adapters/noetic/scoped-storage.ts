import type { Cairn } from "../../cairn.ts";
import { KeyedEntries } from "../entries/keyed-entries.ts";
import { requireUserIfGiven } from "../options/require-options.ts";
import type { OptionNames } from "../../known-options.ts";
import type { ScopedStorage } from "./interfaces.ts";
import { ownerOf, type Scope } from "./owners.ts";
import { storageOf } from "./storage.ts";

export type { Scope } from "./owners.ts";

export type CairnScopedStorageOptions = {
  memory: Cairn;
  layerId: string;
  scope: Scope;
  /** The id of the execution, thread or resource; `__global__` unless set, which is that of `global`. */
  scopeKey?: string;
  /** Whose all state is but that of `global`. Unless set, each resource, thread and execution has an owner of its own. */
  user?: string;
  /** Whose the state of `global` is; `shared:noetic` unless set. */
  shared?: string;
  /** What the keys of the entries begin with; nothing unless set. */
  prefix?: string;
  /** How long each call of a method may take, in milliseconds; without an end unless set. */
  timeoutMs?: number;
};

const OPTIONS: OptionNames<CairnScopedStorageOptions> = {
  memory: true,
  layerId: true,
  scope: true,
  scopeKey: true,
  user: true,
  shared: true,
  prefix: true,
  timeoutMs: true,
};

/**
 * The storage of one layer in one scope, whose keys nobody else's are. Where neither id holds a `/` or `%`, its entries
 * are those that a harness with `cairnStorage` has for the same owner. Throws `CairnError` of a resource whose id begins
 * with `shared:` or `noetic:`.
 *
 * @example
 * const storage = cairnScopedStorage({ memory, layerId: "notes", scope: "resource", scopeKey: "alice" });
 */
export function cairnScopedStorage(options: CairnScopedStorageOptions): ScopedStorage {
  requireUserIfGiven("cairnScopedStorage", options, OPTIONS);
  const { memory, layerId, scope, scopeKey = "__global__", user, shared, prefix = "", timeoutMs } = options;
  const owner = scope === "global" || user === undefined ? ownerOf(scope, scopeKey, shared) : user;
  const path = `${prefix}layers/${segment(layerId)}/${segment(scopeKey)}/`;
  const storage = storageOf(new KeyedEntries({ memory, user: owner, prefix: path, timeoutMs }));
  return { ...storage, list: (start = "") => storage.list(start) };
}

/** An id as one part of a key, so that a thread `a/b` is no part of a thread `a`. */
const segment = (id: string): string => id.replaceAll("%", "%25").replaceAll("/", "%2F");
