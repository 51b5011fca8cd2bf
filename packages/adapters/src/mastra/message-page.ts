import type { MastraDBMessage } from "@mastra/core/agent";
import {
  calculatePagination,
  filterByDateRange,
  normalizePerPage,
  type StorageListMessagesInput,
  type StorageListMessagesOutput,
  storageMessageMatchesMetadataFilter,
  validateStorageMetadataFilter,
} from "@mastra/core/storage";

/** The options of a listing, without its threads. */
export type MessageQuery = Omit<StorageListMessagesInput, "threadId" | "orderBy"> & {
  direction: "ASC" | "DESC";
};

const PER_PAGE = 40;

/** Rejects what the SDK's own store rejects, before any read. */
export function checkQuery({ filter, page = 0, perPage }: MessageQuery): void {
  validateStorageMetadataFilter(filter?.metadata);
  if (page < 0) throw new Error("page must be >= 0");
  if (page * normalizePerPage(perPage, PER_PAGE) > Number.MAX_SAFE_INTEGER / 2)
    throw new Error("page value too large");
}

/** A page of messages. `threadOf` returns the whole thread of a message to include. */
export async function pageOf(
  messages: readonly MastraDBMessage[],
  query: MessageQuery,
  threadOf: (id: string) => Promise<readonly MastraDBMessage[]>,
): Promise<StorageListMessagesOutput> {
  const { resourceId, include = [], filter, page = 0, perPage: asked, direction } = query;
  const metadata = validateStorageMetadataFilter(filter?.metadata);
  const size = normalizePerPage(asked, PER_PAGE);
  const { offset, perPage } = calculatePagination(page, asked, size);
  const wholes = await Promise.all(include.map(({ id }) => threadOf(id)));
  const inOrder = orderOf([...wholes, messages]);
  const isOfResource = (message: MastraDBMessage) => !resourceId || message.resourceId === resourceId;
  const fitting = filterByDateRange(
    messages.filter(isOfResource),
    ({ createdAt }) => createdAt,
    filter?.dateRange,
  )
    .filter(({ content }) => storageMessageMatchesMetadataFilter(content, metadata))
    .toSorted(inOrder(direction));
  const total = size === 0 ? 0 : fitting.length;
  const own = size === 0 ? [] : fitting.slice(offset, offset + size);
  const shown = new Map(own.map((message) => [message.id, message]));
  for (const [n, { id, withPreviousMessages = 0, withNextMessages = 0 }] of include.entries()) {
    const around = (wholes[n] ?? []).filter(isOfResource).toSorted(inOrder("ASC"));
    const at = around.findIndex((message) => message.id === id);
    if (at === -1) continue;
    for (const message of around.slice(Math.max(0, at - withPreviousMessages), at + withNextMessages + 1))
      if (!shown.has(message.id)) shown.set(message.id, message);
  }
  const seen = fitting.filter(({ id }) => shown.has(id)).length;
  const reached = metadata === undefined && include.length > 0 ? seen : offset + own.length;
  return {
    messages: [...shown.values()].toSorted(inOrder(direction)),
    total,
    page,
    perPage,
    hasMore: size > 0 && reached < total,
  };
}

type Direction = MessageQuery["direction"];

/** By time, and at equal times by the places in these lists: the newest first is the very reverse. */
function orderOf(lists: readonly (readonly MastraDBMessage[])[]) {
  const places = new Map<string, number>();
  for (const { id } of lists.flat()) if (!places.has(id)) places.set(id, places.size);
  const placeOf = ({ id }: MastraDBMessage) => places.get(id) ?? 0;
  return (direction: Direction) => (a: MastraDBMessage, b: MastraDBMessage) =>
    (direction === "ASC" ? 1 : -1) *
    (a.createdAt.getTime() - b.createdAt.getTime() || placeOf(a) - placeOf(b));
}
