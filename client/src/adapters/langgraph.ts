export { CairnSaver, type CairnSaverOptions } from "./langgraph/saver.ts";
export { CairnStore, type CairnStoreOptions } from "./langgraph/store.ts";
