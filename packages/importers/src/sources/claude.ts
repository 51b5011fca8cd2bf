// Claude: `conversations.json`, `memories.json` and `projects.json` of its data export.
import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { inTimeOrder } from "../order.ts";
import {
  type Found,
  type FoundMemory,
  type FoundMessage,
  id,
  inShort,
  isObject,
  optionalList,
  optionalObject,
  optionalText,
  present,
  type Remark,
  roleOf,
  type Shape,
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
  content: optionalList,
  attachments: optionalList,
  files: optionalList,
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
  chat_messages: z.array(z.unknown(), "is required: the list of messages, as in conversations.json"),
});
const Memories = z.object({
  conversations_memory: optionalText,
  project_memories: optionalObject,
});
const Project = z.object({
  uuid: id,
  name: text,
  description: optionalText,
  prompt_template: optionalText,
  created_at: time,
  updated_at: time,
  docs: optionalList,
});
const Doc = z.object({ uuid: id, filename: optionalText, content: optionalText, created_at: time });

export const claude: Source = {
  lists: new Set(),
  files:
    /(^|[\\/])((conversations(-\d+)?|memories|projects)\.json|(conversations|memories|projects)[\\/][^\\/]+\.json)$/,
  open: () => ({
    read(value, shape) {
      if (isObject(value) && ("conversations_memory" in value || "project_memories" in value))
        return memoriesOf(shape(Memories, value), shape);
      if (isObject(value) && ("docs" in value || "prompt_template" in value))
        return projectOf(shape(Project, value), shape);
      return conversationOf(shape(Conversation, value), shape);
    },
  }),
};

function conversationOf(conversation: z.infer<typeof Conversation>, shape: Shape): Found[] {
  const example = inShort(conversation.name ?? "") || conversation.uuid;
  const entries = conversation.chat_messages.map((given, i) => {
    const read = () => shape(Said, given, `.chat_messages[${i}]`);
    return { given, said: shape.entry(read, { entries: "messages", example }) };
  });
  const { messages, aside, isList } = currentOf(entries);
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
    const kept = messageOf(message, { shape, example });
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
      messages: isList ? inTimeOrder(said) : said,
    },
    ...found,
  ];
}

/** `said`: null for a message of a wrong shape, which still links its answers to its question. */
type Entry = { given: unknown; said: Said | null };

/** The messages of the branch that was written last. Exports without parents, or whose parents are missing, are lists. */
function currentOf(entries: readonly Entry[]): { messages: readonly Said[]; aside: number; isList: boolean } {
  const all = entries.flatMap(({ said }) => said ?? []);
  const nodes = new Map<string, { id: string; parent: string | null | undefined; at: number | undefined }>();
  const byId = new Map<string, Said>();
  for (const { given, said } of entries) {
    if (!isObject(given) || typeof given.uuid !== "string" || given.uuid === "") continue;
    const { uuid, parent_message_uuid: parent } = given;
    nodes.set(uuid, {
      id: uuid,
      parent: typeof parent === "string" ? parent : undefined,
      at: said?.created_at,
    });
    if (said !== null) byId.set(uuid, said);
  }
  const inTree = [...nodes.values()].filter(({ parent }) => parent && nodes.has(parent)).length;
  // One message, the first, has no parent in the list.
  if (byId.size !== all.length || inTree < nodes.size - 1) return { messages: all, aside: 0, isList: true };
  const messages = pathTo(nodes, null).flatMap((uuid) => byId.get(uuid) ?? []);
  return { messages, aside: all.length - messages.length, isList: false };
}

type Kept = { message: FoundMessage["message"] | null; remarks: Remark[] };

function messageOf(said: Said, { shape, example }: { shape: Shape; example: string }): Kept {
  const files = [...(said.attachments ?? []), ...(said.files ?? [])].flatMap(
    (file) => shape.entry(() => shape(File, file), { entries: "files", example }) ?? [],
  );
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
    if (!isObject(part)) return [{ type: "unknown", value: part }];
    const { start_timestamp: _, stop_timestamp: _stop, flags: _flags, citations, ...kept } = part;
    if (kept.type === "text" && (typeof kept.text !== "string" || kept.text.trim() === "")) return [];
    const cites = Array.isArray(citations) && citations.length > 0;
    const type = typeof kept.type === "string" ? kept.type : "unknown";
    return [{ ...kept, type, ...(cites && { citations }) }];
  });
  if (parts.some(({ type }) => type === "text") || (whole ?? "").trim() === "") return parts;
  return [...parts, { type: "text", text: whole }];
}

const fileOf = ({ file_name: name, file_type, extracted_content: content }: z.infer<typeof File>): Part => ({
  type: "file",
  ...present({ name, mediaType: file_type, text: content }),
});

/** Sections of the summary that Claude keeps: one memory each, so that recall finds one without the others. */
function memoriesOf(
  { conversations_memory: whole, project_memories: projects }: z.infer<typeof Memories>,
  shape: Shape,
): Found[] {
  const ofProjects = Object.entries(projects ?? {}).flatMap(([project, given]) => {
    const read = () => shape(text, given, `.project_memories.${project}`);
    const said = shape.entry(read, { entries: "memories of projects", example: project }) ?? "";
    return sectionsOf(said).map((section) => summaryOf(section, { project }));
  });
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

function projectOf(project: z.infer<typeof Project>, shape: Shape): Found[] {
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
  for (const [i, given] of (project.docs ?? []).entries()) {
    const read = () => shape(Doc, given, `.docs[${i}]`);
    const doc = shape.entry(read, { entries: "documents", example: inShort(project.name) });
    if (doc === null) continue;
    const { uuid, filename, content, created_at } = doc;
    found.push({
      type: "memory",
      id: uuid,
      text: (content ?? "").trim() === "" ? "" : [filename, content].filter(Boolean).join("\n\n"),
      tags: ["document"],
      more: present({ ...more, filename }),
      createdAt: created_at,
    });
  }
  return found;
}
