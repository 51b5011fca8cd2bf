// Claude: `conversations.json`, `memories.json` and `projects.json` of its data export.
import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import {
  type Found,
  type FoundMemory,
  type FoundMessage,
  id,
  inShort,
  isObject,
  optionalText,
  present,
  type Remark,
  roleOf,
  type Source,
  text,
  time,
} from "../source.ts";
import { pathTo } from "../tree.ts";

const File = z.object({ file_name: optionalText, file_type: optionalText, extracted_content: optionalText });
const Said = z.object({
  uuid: optionalText,
  sender: text,
  text: optionalText,
  content: z.array(z.looseObject({ type: text }), "is no list").nullish(),
  attachments: z.array(File, "is no list").nullish(),
  files: z.array(File, "is no list").nullish(),
  parent_message_uuid: optionalText,
  created_at: time,
});
type Said = z.infer<typeof Said>;
const Conversation = z.object({
  uuid: id,
  name: optionalText,
  summary: optionalText,
  created_at: time,
  updated_at: time,
  chat_messages: z.array(Said, "is required: the list of messages, as in conversations.json"),
});
const Memories = z.object({
  conversations_memory: optionalText,
  project_memories: z.record(z.string(), text, "is no object").nullish(),
});
const Project = z.object({
  uuid: id,
  name: text,
  description: optionalText,
  prompt_template: optionalText,
  created_at: time,
  updated_at: time,
  docs: z
    .array(z.object({ uuid: id, filename: optionalText, content: optionalText, created_at: time }))
    .nullish(),
});

export const claude: Source = {
  lists: new Set(),
  files:
    /(^|[\\/])((conversations(-\d+)?|memories|projects)\.json|(conversations|memories|projects)[\\/][^\\/]+\.json)$/,
  open: () => ({
    read(value, shape) {
      if (isObject(value) && ("conversations_memory" in value || "project_memories" in value))
        return memoriesOf(shape(Memories, value));
      if (isObject(value) && ("docs" in value || "prompt_template" in value))
        return projectOf(shape(Project, value));
      return conversationOf(shape(Conversation, value));
    },
  }),
};

function conversationOf(conversation: z.infer<typeof Conversation>): Found[] {
  const example = inShort(conversation.name ?? "") || conversation.uuid;
  const { messages, aside } = currentOf(conversation.chat_messages);
  const found: Found[] = [];
  if (aside > 0)
    found.push({
      type: "skipped",
      reason: "messages on other branches of their conversation",
      example,
      count: aside,
    });
  const said: FoundMessage[] = [];
  for (const message of messages) {
    const kept = messageOf(message, example);
    found.push(...kept.remarks);
    if (kept.message !== null) said.push({ message: kept.message, createdAt: message.created_at });
  }
  return [
    {
      type: "thread",
      id: conversation.uuid,
      title: conversation.name ?? undefined,
      more: present({ summary: conversation.summary }),
      createdAt: conversation.created_at,
      updatedAt: conversation.updated_at,
      messages: said,
    },
    ...found,
  ];
}

/** The messages of the branch that was written last. Exports without parents, or whose parents are missing, are lines. */
function currentOf(all: readonly Said[]): { messages: readonly Said[]; aside: number } {
  const byId = new Map(all.flatMap((message) => (message.uuid ? [[message.uuid, message] as const] : [])));
  const inTree = all.filter(({ parent_message_uuid: parent }) => parent && byId.has(parent)).length;
  // One message, the first, has no parent in the list.
  if (byId.size !== all.length || inTree < all.length - 1) return { messages: all, aside: 0 };
  const nodes = Array.from(
    byId,
    ([uuid, { parent_message_uuid: parent, created_at: at }]) => [uuid, { id: uuid, parent, at }] as const,
  );
  const messages = pathTo(new Map(nodes), null).flatMap((uuid) => byId.get(uuid) ?? []);
  return { messages, aside: all.length - messages.length };
}

type Kept = { message: FoundMessage["message"] | null; remarks: Remark[] };

function messageOf(said: Said, example: string): Kept {
  const files = [...(said.attachments ?? []), ...(said.files ?? [])];
  const parts = [...partsOf(said), ...files.map(fileOf)];
  const [only] = parts;
  if (only === undefined)
    return { message: null, remarks: [{ type: "skipped", reason: "empty messages", example }] };
  const isPlain = parts.length === 1 && only.type === "text" && Object.keys(only).length === 2;
  const lost = files.filter(({ extracted_content: content }) => (content ?? "") === "").length;
  const changed = {
    type: "changed",
    reason: "files: only their names or references are kept",
    example,
  } as const;
  return {
    message: {
      role: roleOf(said.sender),
      content: isPlain ? only.text : parts,
      ...present({ id: said.uuid }),
    },
    remarks: lost === 0 ? [] : [{ ...changed, count: lost }],
  };
}

type Part = { type: string; text?: unknown; [field: string]: unknown };

/** Without times and flags of the page that showed them. */
function partsOf({ content, text: whole }: Said): Part[] {
  const parts = (content ?? []).flatMap((part): Part[] => {
    const { start_timestamp: _, stop_timestamp: _stop, flags: _flags, citations, ...kept } = part;
    if (kept.type === "text" && (typeof kept.text !== "string" || kept.text.trim() === "")) return [];
    const cites = Array.isArray(citations) && citations.length > 0;
    return [{ ...kept, ...(cites && { citations }) }];
  });
  if (parts.some(({ type }) => type === "text") || (whole ?? "").trim() === "") return parts;
  return [...parts, { type: "text", text: whole }];
}

const fileOf = ({ file_name: name, file_type, extracted_content: content }: z.infer<typeof File>): Part => ({
  type: "file",
  ...present({ name, mediaType: file_type, text: content }),
});

/** Sections of the summary that Claude keeps: one memory each, so that recall finds one without the others. */
function memoriesOf({
  conversations_memory: whole,
  project_memories: projects,
}: z.infer<typeof Memories>): Found[] {
  const ofProjects = Object.entries(projects ?? {}).flatMap(([project, said]) =>
    sectionsOf(said).map((section) => summaryOf(section, { project })),
  );
  return [...sectionsOf(whole ?? "").map((section) => summaryOf(section, {})), ...ofProjects];
}

/** A summary has no id and no time. Its text is its id, so that a later summary is another memory. */
const summaryOf = (said: string, more: { project?: string }): FoundMemory => ({
  type: "memory",
  id: `memory:${createHash("sha256")
    .update(`${more.project ?? ""}\n${said}`)
    .digest("base64url")
    .slice(0, 22)}`,
  kind: "reflection",
  text: said,
  tags: ["summary"],
  more,
});

/** A heading is a line of its own, in bold or with `#`. */
const sectionsOf = (whole: string): string[] =>
  whole
    .split(/\n(?=\s*(?:\*\*[^*\n]+\*\*\s*$|#{1,6} ))/m)
    .map((section) => section.trim())
    .filter((section) => section !== "");

function projectOf(project: z.infer<typeof Project>): Found[] {
  const times = { createdAt: project.created_at, updatedAt: project.updated_at };
  const more = { project: project.uuid };
  const found: Found[] = [];
  if ((project.description ?? "").trim() !== "")
    found.push({
      type: "memory",
      id: `project:${project.uuid}`,
      text: `${project.name}: ${project.description}`,
      tags: ["project"],
      more,
      ...times,
    });
  if ((project.prompt_template ?? "").trim() !== "")
    found.push({
      type: "memory",
      id: `instructions:${project.uuid}`,
      kind: "procedure",
      // Projects may share a name, procedures a title not.
      title: `${project.name} (Claude project ${project.uuid})`,
      text: project.prompt_template ?? "",
      tags: ["project"],
      more,
      ...times,
    });
  for (const { uuid, filename, content, created_at } of project.docs ?? [])
    found.push({
      type: "memory",
      id: uuid,
      text: (content ?? "").trim() === "" ? "" : [filename, content].filter(Boolean).join("\n\n"),
      tags: ["document"],
      more: present({ ...more, filename }),
      createdAt: created_at,
    });
  return found;
}
