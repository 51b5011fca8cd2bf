import { newId } from "../../../client/src/new-id.ts";
import type { MastraDBMessage } from "@mastra/core/agent";
import type { StorageThreadType } from "@mastra/core/memory";
import type { StorageCloneThreadInput } from "@mastra/core/storage";

/** The messages to clone, oldest first. */
export function clonedMessages(
  messages: readonly MastraDBMessage[],
  {
    messageLimit,
    messageFilter: { startDate, endDate, messageIds = [] } = {},
  }: NonNullable<StorageCloneThreadInput["options"]> = {},
): MastraDBMessage[] {
  const wanted = messages
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    .filter(
      ({ id, createdAt }) =>
        (messageIds.length === 0 || messageIds.includes(id)) &&
        (startDate === undefined || createdAt >= startDate) &&
        (endDate === undefined || createdAt <= endDate),
    );
  return messageLimit !== undefined && messageLimit > 0 ? wanted.slice(-messageLimit) : wanted;
}

export function cloneOf(
  source: StorageThreadType,
  messages: readonly MastraDBMessage[],
  { newThreadId, resourceId, title, metadata }: StorageCloneThreadInput,
): StorageThreadType {
  const now = new Date();
  const lastMessageId = messages.at(-1)?.id;
  const named = title ?? (source.title ? `Clone of ${source.title}` : undefined);
  return {
    id: newThreadId ?? newId(),
    resourceId: resourceId ?? source.resourceId,
    ...(named !== undefined && { title: named }),
    metadata: {
      ...metadata,
      clone: {
        sourceThreadId: source.id,
        clonedAt: now,
        ...(lastMessageId !== undefined && { lastMessageId }),
      },
    },
    createdAt: now,
    updatedAt: now,
  };
}
