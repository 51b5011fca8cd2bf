import { z } from "@hono/zod-openapi";
import type { Tool as ListedTool, ToolAnnotations } from "@modelcontextprotocol/server";
import { ok, type Result } from "../../domain/errors.ts";
import { parseInput } from "../parse-input.ts";
import type { Services } from "../services.ts";
import type { Writer } from "../../domain/memory/record.ts";
import { type Access, reach, type Reached, type Touches } from "./access.ts";

/** The dependencies of tools, resources and prompts. */
export type Context = {
  services: Pick<
    Services,
    | "embedder"
    | "recallIds"
    | "recallMeter"
    | "records"
    | "userMemory"
    | "recall"
    | "tenantProfiles"
    | "predicates"
    | "tokenCounter"
    | "now"
  >;
  access: Access;
  /** The writer of what a tool stores: a model, at most. */
  by: Writer;
};

/** A tool's text for the model; `structured` has the same for a program. */
export type ToolResult = { text: string; structured?: Record<string, unknown> };

type Definition<Input extends z.ZodType, Output extends z.ZodType, Owner extends Touches> = {
  name: string;
  title: string;
  /** For the model: when to use the tool, and what it returns. */
  description: string;
  /** The scope that a token needs; without it the tool is not listed. */
  scope: "read" | "write";
  /** Whose memory it touches. The owners are found, or the call is refused, before it runs. */
  owner: Owner;
  annotations: Pick<ToolAnnotations, "readOnlyHint" | "destructiveHint" | "idempotentHint">;
  input: Input;
  output?: Output;
  run: (context: Context, given: z.infer<Input>, whose: Reached[Owner]) => Promise<Result<ToolResult>>;
};

/** A tool as the server lists and calls it. */
export type Tool = {
  listed: ListedTool;
  scope: "read" | "write";
  owner: Touches;
  /** Checks the arguments and the owners that they name, and runs the tool. */
  call: (context: Context, given: unknown) => Promise<Result<ToolResult>>;
  /** The owner that the arguments name; by default, and where they are wrong, the user. */
  ownerOf: (access: Access, given: unknown) => string;
};

/** Throws for a tool without a scope or an owner, or whose arguments name other owners than it says. */
export function tool<Input extends z.ZodType, Output extends z.ZodType, Owner extends Touches>(
  definition: Definition<Input, Output, Owner>,
): Tool {
  const { name, title, description, scope, owner, annotations, input, output, run } = definition;
  const inputSchema = documentOf(input, "input");
  const named = Object.keys(inputSchema.properties ?? {}).find((one) => one === "owner" || one === "owners");
  if (scope === undefined || reach[owner] === undefined) throw new Error(`${name} says no scope or no owner`);
  if ((named ?? "user") !== owner) throw new Error(`${name} touches '${owner}', and takes '${named}'`);
  return {
    scope,
    owner,
    listed: {
      name,
      title,
      description,
      // No tool reaches beyond this deployment.
      annotations: { title, ...annotations, openWorldHint: false },
      inputSchema,
      ...(output !== undefined && { outputSchema: documentOf(output, "output") }),
    },
    call: async (context, given) => {
      const parsed = parseInput(input, given ?? {}, "arguments");
      if (!parsed.ok) return parsed;
      const whose = await reach[owner](context.access, scope, Object(parsed.value));
      return whose.ok ? run(context, parsed.value, whose.value) : whose;
    },
    ownerOf: ({ user }, given) => {
      const whose: unknown = Object(input.safeParse(given ?? {}).data).owner;
      return typeof whose === "string" ? whose : user;
    },
  };
}

export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true } as const;
/** For a tool that deletes. A repeat changes nothing. */
export const FORGETS = { readOnlyHint: false, destructiveHint: true, idempotentHint: true } as const;
/** For a tool that stores. A repeat changes nothing. */
export const STORES = { readOnlyHint: false, destructiveHint: false, idempotentHint: true } as const;

type ObjectSchema = ListedTool["inputSchema"];

/** The JSON Schema of a tool's input or output, without what only fills a model's context. */
function documentOf(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const { $schema: _dialect, ...document } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  // Inputs and outputs of tools are objects.
  return document as ObjectSchema;
}

export const textResult = (text: string, structured?: Record<string, unknown>): Result<ToolResult> =>
  ok({ text, ...(structured && { structured }) });
