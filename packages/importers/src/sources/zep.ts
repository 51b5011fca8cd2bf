// Zep: the edges, nodes and episodes of a graph, and threads or sessions with their messages. Versions 1 to 4 of its API.
import { z } from "@hono/zod-openapi";
import { inTimeOrder } from "../order.ts";
import {
  type Found,
  type FoundMemory,
  id,
  inShort,
  isObject,
  optionalObject,
  optionalText,
  present,
  roleOf,
  type Shape,
  type Source,
  text,
  time,
} from "../source.ts";

const End = z.object({ uuid: optionalText, name: optionalText }).nullish();
const Edge = z.object({
  uuid: id,
  fact: text,
  name: optionalText,
  user_id: optionalText,
  source_node_uuid: optionalText,
  target_node_uuid: optionalText,
  source_node: End,
  target_node: End,
  attributes: optionalObject,
  rating: z.number("is no number").nullish(),
  created_at: time,
  valid_at: time,
  invalid_at: time,
  expired_at: time,
});
const Node = z.object({
  uuid: id,
  name: text,
  summary: optionalText,
  user_id: optionalText,
  attributes: optionalObject,
  created_at: time,
});
const Episode = z.object({
  uuid: id,
  content: text,
  source: optionalText,
  source_description: optionalText,
  user_id: optionalText,
  created_at: time,
});
const Said = z
  .object({
    uuid: optionalText,
    content: text,
    role: optionalText,
    role_type: optionalText,
    name: optionalText,
    metadata: optionalObject,
    created_at: time,
  })
  .refine(({ role, role_type }) => (role_type ?? role ?? "") !== "", {
    path: ["role"],
    message: "is required: a string",
  });
const Thread = z.object({
  thread_id: optionalText,
  session_id: optionalText,
  user_id: optionalText,
  metadata: optionalObject,
  created_at: time,
  updated_at: time,
  messages: z.array(z.unknown(), "is no list of messages").nullish(),
});

export const zep: Source = {
  lists: new Set(["edges", "nodes", "episodes", "facts", "threads", "sessions"]),
  files: /\.jsonl?$/,
  open: (names) => ({ read: (value, shape) => read(value, { shape, names }) }),
};

type Pass = { shape: Shape; names: Map<string, string> };

/** The SDK for TypeScript names fields in camel case: `validAt` is `valid_at` of the API. */
function asInApi(value: unknown): unknown {
  if (!isObject(value)) return value;
  const renamed = Object.entries(value).map(([name, member]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name === "messages" && Array.isArray(member) ? member.map(asInApi) : member,
  ]);
  return Object.fromEntries(renamed);
}

function read(given: unknown, { shape, names }: Pass): Found[] {
  const value = asInApi(given);
  if (isObject(value) && ("thread_id" in value || "session_id" in value) && !("content" in value))
    return threadOf(shape(Thread, value), shape);
  if (isObject(value) && "content" in value) return episodeOf(shape(Episode, value));
  if (isObject(value) && !("fact" in value) && ("summary" in value || "labels" in value)) {
    const node = shape(Node, value);
    names.set(node.uuid, node.name);
    return nodeOf(node);
  }
  return [edgeOf(shape(Edge, value), names)];
}

function edgeOf(edge: z.infer<typeof Edge>, names: Map<string, string>): Found {
  const nameOf = (uuid: string | null | undefined) =>
    uuid === null || uuid === undefined ? undefined : names.get(uuid);
  const until = edge.invalid_at ?? edge.expired_at;
  const { valid_at: from = before(edge.created_at, until) } = edge;
  if (until !== undefined && from !== undefined && until <= from)
    return { type: "skipped", reason: "facts that end before they begin", example: edge.uuid };
  return {
    type: "memory",
    id: edge.uuid,
    user: edge.user_id ?? undefined,
    text: edge.fact,
    more: present({
      relation: edge.name,
      source: edge.source_node?.name ?? nameOf(edge.source_node_uuid),
      target: edge.target_node?.name ?? nameOf(edge.target_node_uuid),
      sourceNode: edge.source_node_uuid ?? edge.source_node?.uuid,
      targetNode: edge.target_node_uuid ?? edge.target_node?.uuid,
      attributes: edge.attributes,
    }),
    ...(typeof edge.rating === "number" && edge.rating >= 0 && edge.rating <= 1 && { score: edge.rating }),
    createdAt: edge.created_at,
    // An edge that ends later changes then.
    updatedAt: edge.expired_at,
    validFrom: from,
    validTo: until,
  };
}

/** The start of a fact whose end alone is known: its creation, or the moment before the end. */
const before = (created: number | undefined, until: number | undefined): number | undefined =>
  until === undefined ? undefined : Math.min(created ?? until - 1, until - 1);

function nodeOf(node: z.infer<typeof Node>): FoundMemory[] {
  if ((node.summary ?? "").trim() === "") return [];
  return [
    {
      type: "memory",
      id: node.uuid,
      user: node.user_id ?? undefined,
      kind: "reflection",
      text: `${node.name}: ${node.summary}`,
      tags: ["entity"],
      more: present({ attributes: node.attributes }),
      createdAt: node.created_at,
    },
  ];
}

function episodeOf(episode: z.infer<typeof Episode>): Found[] {
  if (episode.source === "message")
    return [
      { type: "skipped", reason: "episodes that are messages: import the threads", example: episode.uuid },
    ];
  return [
    {
      type: "memory",
      id: episode.uuid,
      user: episode.user_id ?? undefined,
      kind: "episode",
      text: episode.content,
      more: present({ source: episode.source, sourceDescription: episode.source_description }),
      createdAt: episode.created_at,
    },
  ];
}

function threadOf(thread: z.infer<typeof Thread>, shape: Shape): Found[] {
  const threadId = shape(id, thread.thread_id ?? thread.session_id);
  const { messages } = thread;
  if (messages === null || messages === undefined)
    return [{ type: "skipped", reason: "threads without a list of messages", example: threadId }];
  return [
    {
      type: "thread",
      id: threadId,
      user: thread.user_id ?? undefined,
      more: present({ metadata: thread.metadata }),
      createdAt: thread.created_at,
      updatedAt: thread.updated_at,
      messages: inTimeOrder(
        messages.flatMap((given, i) => {
          const readOne = () => messageOf(shape(Said, given, `.messages[${i}]`));
          return shape.entry(readOne, { entries: "messages", example: inShort(threadId) }) ?? [];
        }),
      ),
    },
  ];
}

/** Version 3 has the kind of a role in `role`, versions before it in `role_type`. */
const messageOf = ({ created_at, ...said }: z.infer<typeof Said>) => ({
  message: {
    role: roleOf(said.role_type ?? said.role ?? ""),
    content: said.content,
    ...present({
      name: said.name ?? (said.role_type === null || said.role_type === undefined ? null : said.role),
      id: said.uuid,
      metadata: said.metadata,
    }),
  },
  createdAt: created_at,
});
