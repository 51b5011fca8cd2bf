import type { SourceMessage } from "./proposal.ts";

/** The messages to extract from, and those before them, which only explain them. */
export type Window = { context: readonly SourceMessage[]; messages: readonly SourceMessage[] };
