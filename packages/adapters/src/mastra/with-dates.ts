/** A dated object of Mastra in an entry: times are milliseconds since the epoch. */
export type Timed<T> = Omit<T, "createdAt" | "updatedAt"> & { createdAt: number; updatedAt: number };

export const withDates = <T extends { createdAt: number; updatedAt: number }>(record: T) => ({
  ...record,
  createdAt: new Date(record.createdAt),
  updatedAt: new Date(record.updatedAt),
});
