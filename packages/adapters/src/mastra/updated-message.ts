import type { MastraDBMessage, MastraMessageContentV2 } from "@mastra/core/agent";

export type MessageUpdate = Partial<Omit<MastraDBMessage, "createdAt">> & {
  id: string;
  content?: Partial<MastraMessageContentV2>;
};

/** Applies an update to a message; merges content and metadata field by field. */
export function merged(message: MastraDBMessage, { content, ...fields }: MessageUpdate): MastraDBMessage {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  if (content === undefined) return { ...message, ...given };
  const metadata =
    message.content.metadata && content.metadata
      ? { metadata: { ...message.content.metadata, ...content.metadata } }
      : {};
  return { ...message, ...given, content: { ...message.content, ...content, ...metadata } };
}
