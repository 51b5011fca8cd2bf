import type { DexSchema, DexToolName } from "./types.ts";

// The tools' arguments: as at Cairn's MCP server, without the owner, which is fixed here. A test compares them.

const title = { type: "string", minLength: 1, description: "The procedure's exact title." } as const;
const subject = {
  type: "string",
  minLength: 1,
  description:
    "Who or what the fact is about: `user` for the user themselves, even if their name is known; else a person, a project.",
} as const;
const predicate = {
  type: "string",
  minLength: 1,
  description: "The property, short and always worded alike: `lives in`, `prefers`.",
} as const;

export const schemas: Record<DexToolName, DexSchema> = {
  memory_remember_fact: {
    type: "object",
    properties: {
      subject,
      predicate,
      object: { type: "string", minLength: 1, description: "The value: `Porto`, `tabs over spaces`." },
    },
    required: ["subject", "predicate", "object"],
    additionalProperties: false,
  },
  memory_forget_fact: {
    type: "object",
    properties: {
      subject,
      predicate,
      object: {
        type: "string",
        minLength: 1,
        description:
          "The object to forget: `tea`. Required if the fact has several objects, unless `all` is set.",
      },
      all: {
        type: "boolean",
        description: "True: deletes every object. Only if the user wants all of them forgotten.",
      },
    },
    required: ["subject", "predicate"],
    additionalProperties: false,
  },
  memory_store_procedure: {
    type: "object",
    properties: {
      title: {
        type: "string",
        minLength: 1,
        description: "A short name to find it by: `deploy-shop`.",
      },
      body: { type: "string", minLength: 1, description: "The steps, as Markdown, to 32 KiB." },
      tags: { type: "array", items: { type: "string", minLength: 1 }, description: "Tags to list it by." },
    },
    required: ["title", "body"],
    additionalProperties: false,
  },
  memory_forget_procedure: {
    type: "object",
    properties: { title },
    required: ["title"],
    additionalProperties: false,
  },
  memory_list_procedures: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, description: "The task, in plain words." },
      tag: { type: "string", minLength: 1, description: "Only procedures that carry this tag." },
      limit: { type: "integer", minimum: 1, description: "At most this many; 20 unless set, 50 at most." },
    },
    additionalProperties: false,
  },
  memory_get_procedure: {
    type: "object",
    properties: { title },
    required: ["title"],
    additionalProperties: false,
  },
};
