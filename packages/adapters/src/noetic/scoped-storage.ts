import type { Cairn } from "../../../client/src/cairn.ts";
import { KeyedEntries } from "../entries/keyed-entries.ts";
import { requireUserIfGiven } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { TimeLimit } from "../limits/time-limit.ts";
import type { ScopedStorage } from "./interfaces.ts";
import { ownerOf, type Scope } from "./owners.ts";
import { storageOf } from "./storage.ts";

export type { Scope } from "./owners.ts";

export type CairnScopedStorageOptions = TimeLimit & {
  memory: Cairn;
  layerId: string;
  scope: Scope;
  /** The id of the execution, thread or resource; unless set `__global__`, the key of `global`. */
  scopeKey?: string;
  /** The owner of all state except `global`. Unless set, each resource, thread and execution has its own owner. */
  user?: string;
  /** The owner of the `global` state; `shared:noetic` unless set. */
  shared?: string;
  /** Prepended to the keys of the entries; nothing unless set. */
  prefix?: string;
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
 * The storage of one layer in one scope, with keys of its own. If no id contains `/` or `%`, a harness with
 * `cairnStorage` and the same owner uses the same entries. Throws `CairnError` if a resource's id begins with `shared:`
 * or `noetic:`.
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

/** Encodes an id as one part of a key, so that a thread `a/b` is not within a thread `a`. */
const segment = (id: string): string => id.replaceAll("%", "%25").replaceAll("/", "%2F");
