import { z } from "@hono/zod-openapi";
import { trusts } from "../token.ts";
import { MemorySource } from "./memory-fields.ts";
import { shape, string } from "./described.ts";

export const trust = z.enum(trusts).openapi("Trust", {
  description:
    "`user`, `operator`: a person or a backend wrote the memory. `model`: a model found it. `tool`: a tool's result says it. `import`: another system had it.",
});
export type Trust = z.infer<typeof trust>;

/** `tokenId`: the token's `jti`. `prompt`: name and version of the prompt. */
export const WrittenBy = shape("WrittenBy", {
  tokenId: z.string().optional(),
  adapter: z.string().optional(),
  model: z.string().optional(),
  prompt: z.string().optional(),
}).openapi({ description: "The token, the adapter, the model and its prompt that wrote it." });
export type WrittenBy = z.infer<typeof WrittenBy>;

/** Fields of a memory that Cairn sets. */
export const provenanceFields = {
  writtenBy: WrittenBy.optional(),
  sources: z.array(MemorySource).optional().describe("All sources, where there are several; the last 32."),
  reasons: z.array(z.string()).optional().openapi({ description: "Why it is quarantined." }),
  conflictsWith: string(
    "The id of the memory that it would supersede or change, which has a higher trust.",
  ).optional(),
  waitedAs: string(
    "The id under which a memory waited that became this one by its release. Calls with that id reach this memory.",
  ).optional(),
};
/** The value of the column `provenance`. */
export type Provenance = {
  [Name in keyof typeof provenanceFields]?: z.infer<(typeof provenanceFields)[Name]>;
};
