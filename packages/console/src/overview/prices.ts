/** The counts of a month. `messages`: those that were appended, which Cairn does not count. */
export type Month = { users: number; memories: number; threads: number; recalls: number; messages: number };

/** Rows that a call writes and reads in an object, and writes in D1 (docs/reference/costs.md, which a test compares). */
export const ROWS = {
  memory: { written: 10, read: 111, d1: 4 },
  thread: { written: 7, read: 97, d1: 5 },
  /** Of two messages, in a sitting. */
  append: { written: 11, read: 38, d1: 0.2 },
  /** Among 2,000 documents. */
  recall: { written: 2, read: 6_568, d1: 0 },
} as const;

/** Dollars: of a million, or of a GB and month. */
export const PRICES = {
  request: 0.3,
  cpuMs: 0.02,
  objectRequest: 0.15,
  objectGbSecond: 12.5,
  rowWritten: 1,
  rowRead: 0.001,
  objectGb: 0.2,
  d1Gb: 0.75,
} as const;

const [CPU_MS, OBJECT_SECONDS, OBJECT_GB] = [5, 0.05, 0.125];
/** GB of the object of a user without memories, of a document in an object, and of a memory in D1. */
const [USER_GB, DOCUMENT_GB, MEMORY_GB] = [380e-6, 0.8e-6, 1e-6];

/** `wakes`: requests to the object: the call, and the alarm that follows a write. */
function ofCalls(calls: number, { written, read, d1 }: (typeof ROWS)[keyof typeof ROWS], wakes: number) {
  const { request, cpuMs, objectRequest, objectGbSecond, rowWritten, rowRead } = PRICES;
  const wake = objectRequest + OBJECT_SECONDS * OBJECT_GB * objectGbSecond;
  const million = request + CPU_MS * cpuMs + wakes * wake + (written + d1) * rowWritten + read * rowRead;
  return (calls / 1e6) * million;
}

/** Dollars a month by what they are for, before what the account's monthly $5 include. Models are not among them. */
export function costsOf({ users, memories, threads, recalls, messages }: Month): Record<keyof Month, number> {
  return {
    users: users * USER_GB * PRICES.objectGb,
    memories:
      ofCalls(memories, ROWS.memory, 2) +
      memories * (DOCUMENT_GB * PRICES.objectGb + MEMORY_GB * PRICES.d1Gb),
    threads: ofCalls(threads, ROWS.thread, 2),
    recalls: ofCalls(recalls, ROWS.recall, 1),
    messages: ofCalls(messages / 2, ROWS.append, 2) + messages * DOCUMENT_GB * PRICES.objectGb,
  };
}

export const sumOf = (costs: Record<keyof Month, number>): number =>
  Object.values(costs).reduce((sum, one) => sum + one, 0);
