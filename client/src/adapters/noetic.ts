export { cairnLayer, type CairnLayer, type CairnLayerOptions } from "./noetic/layer.ts";
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
