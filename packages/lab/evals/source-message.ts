import type { SourceMessage } from "#domain/ingest/proposal.ts";

/** A message as extraction sees it: of the owner, if a user wrote it and it has no name. */
export function sourceMessage(fields: Partial<SourceMessage> & Pick<SourceMessage, "text">): SourceMessage {
  const { role = "user", speaker = null } = fields;
  return { seq: 1, role, speaker, isOwner: role === "user" && speaker === null, at: 0, ...fields };
}
