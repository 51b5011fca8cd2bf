// What workerd has as a global and Node as a module.
import { setTimeout as wait } from "node:timers/promises";

export const scheduler = { wait: (ms: number): Promise<void> => wait(ms) };
