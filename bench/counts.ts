/** The rows that one object has written and read so far, in its database and in D1. `bytes` is the size of its database. */
export type Counts = { written: number; read: number; d1Written: number; d1Read: number; bytes: number };
