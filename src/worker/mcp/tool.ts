import { z } from "@hono/zod-openapi";
import type { Tool as ListedTool, ToolAnnotations } from "@modelcontextprotocol/server";
import { ok, type Result } from "../../domain/errors.ts";
import { parseInput } from "../parse-input.ts";
import type { Services } from "../services.ts";
import type { Access } from "./access.ts";

/** What tools, resources and prompts work with. */
export type Context = {
  services: Pick<Services, "embedder" | "records" | "userMemory" | "recall" | "now">;
  access: Access;
};

/** What a tool says to the model; `structured` says the same to a program. */
export type Said = { text: string; structured?: Record<string, unknown> };

type Definition<Input extends z.ZodType, Output extends z.ZodType> = {
  name: string;
  title: string;
  /** For the model: when to use it, and what it gives. */
  description: string;
  /** The scope that a token needs; without it the tool is not listed. */
  scope: "read" | "write";
  annotations: Pick<ToolAnnotations, "readOnlyHint" | "destructiveHint" | "idempotentHint">;
  input: Input;
  output?: Output;
  run: (context: Context, given: z.infer<Input>) => Promise<Result<Said>>;
};

/** A tool as the server lists and calls it. */
export type Tool = {
  listed: ListedTool;
  scope: "read" | "write";
  /** Checks what came, and does it. */
  call: (context: Context, given: unknown) => Promise<Result<Said>>;
  /** Whose memory the arguments name; without a word of it, or where they are wrong, the user's. */
  ownerOf: (access: Access, given: unknown) => string;
};

export function tool<Input extends z.ZodType, Output extends z.ZodType>(
  definition: Definition<Input, Output>,
): Tool {
  const { name, title, description, scope, annotations, input, output, run } = definition;
  return {
    scope,
    listed: {
      name,
      title,
      description,
      // Nothing here reaches beyond the deployment's own memory.
      annotations: { title, ...annotations, openWorldHint: false },
      inputSchema: documentOf(input, "input"),
      ...(output !== undefined && { outputSchema: documentOf(output, "output") }),
    },
    call: async (context, given) => {
      const parsed = parseInput(input, given ?? {}, "arguments");
      return parsed.ok ? run(context, parsed.value) : parsed;
    },
    ownerOf: ({ user }, given) => {
      const owner: unknown = Object(input.safeParse(given ?? {}).data).owner;
      return typeof owner === "string" ? owner : user;
    },
  };
}

/** For a tool that reads. */
export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true } as const;
/** For a tool that takes something away for good. Twice is the same as once. */
export const FORGETS = { readOnlyHint: false, destructiveHint: true, idempotentHint: true } as const;
/** For a tool that stores. The same again changes nothing. */
export const STORES = { readOnlyHint: false, destructiveHint: false, idempotentHint: true } as const;

type ObjectSchema = ListedTool["inputSchema"];

/** The JSON Schema of a tool's input or output, without what only takes up a model's context. */
function documentOf(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const { $schema: _dialect, ...document } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  // A tool's input and output are objects.
  return document as ObjectSchema;
}

/** A result of text alone. */
export const said = (text: string, structured?: Record<string, unknown>): Result<Said> =>
  ok({ text, ...(structured && { structured }) });
