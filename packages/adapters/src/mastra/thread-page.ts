import type { StorageThreadType } from "@mastra/core/memory";
import {
  calculatePagination,
  jsonValueEquals,
  normalizePerPage,
  type StorageListThreadsInput,
  type StorageListThreadsOutput,
} from "@mastra/core/storage";

export const THREADS_PER_PAGE = 100;

/** A page of the threads that fit a filter, in order. */
export function threadPage(
  threads: readonly StorageThreadType[],
  {
    page,
    perPage: asked,
    filter = {},
    field,
    direction,
  }: Pick<StorageListThreadsInput, "perPage" | "filter"> & {
    page: number;
    field: "createdAt" | "updatedAt";
    direction: "ASC" | "DESC";
  },
): StorageListThreadsOutput {
  const fitting = threads
    .filter(
      ({ resourceId, metadata }) =>
        (!filter.resourceId || resourceId === filter.resourceId) &&
        Object.entries(filter.metadata ?? {}).every(([key, value]) =>
          jsonValueEquals(metadata?.[key], value),
        ),
    )
    .toSorted((a, b) => (direction === "ASC" ? 1 : -1) * (a[field].getTime() - b[field].getTime()));
  const size = normalizePerPage(asked, THREADS_PER_PAGE);
  const { offset, perPage } = calculatePagination(page, asked, size);
  return {
    threads: fitting.slice(offset, offset + size),
    total: fitting.length,
    page,
    perPage,
    hasMore: offset + size < fitting.length,
  };
}
