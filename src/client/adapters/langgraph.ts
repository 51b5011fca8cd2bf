export { CairnSaver, type CairnSaverOptions } from "./langgraph/saver.ts";
