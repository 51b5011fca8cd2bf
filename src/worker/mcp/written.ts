import { z } from "@hono/zod-openapi";
import type { Remembered } from "../../contract/user-memory.ts";
import { type Written, writtenOf } from "../../domain/conversation/waiting-text.ts";
import { memoryStatus } from "../../domain/schema/memory-fields.ts";
import { superseded } from "../../domain/schema/memory.ts";

/** The answer of a tool that writes a memory, for a program. */
export const writtenOutput = z.object({
  id: z.string(),
  created: z.boolean(),
  status: memoryStatus.describe("`quarantined`: it waits until a person releases it."),
  reasons: z.array(z.string()).optional().describe("Why it waits."),
  conflictsWith: z.string().optional().describe("The memory of a higher trust that it contradicts."),
  superseded,
});

/** The fields of a written memory that its writer has to know of. */
export const writtenBy = ({ memory, superseded: ended }: Remembered): Written =>
  writtenOf({ ...memory, superseded: ended });
