export { cairnLayer, type CairnLayer } from "./noetic/layer.ts";
export type { CairnLayerOptions, LayerBudget, Provided } from "./noetic/layer-options.ts";
export type { Turn } from "./noetic/turns.ts";
export { cairnScopedStorage, type CairnScopedStorageOptions, type Scope } from "./noetic/scoped-storage.ts";
export { cairnStorage, type CairnStorageOptions } from "./noetic/storage.ts";
export type {
  ExecutionContext,
  Item,
  LayerFunction,
  ScopedStorage,
  StorageAdapter,
} from "./noetic/interfaces.ts";
