// A data export of ChatGPT, with branches, a gap and odd messages.
import { at } from "./times.ts";

type Node = { id?: string; parent: string | null; children?: string[]; message?: unknown };
const said = (id: string, role: string, day: number, more: Record<string, unknown> = {}): unknown => ({
  id,
  author: { role, name: null, metadata: {} },
  create_time: at(day),
  content: { content_type: "text", parts: [`${role} ${id}`] },
  recipient: "all",
  metadata: {},
  ...more,
});
const mapping: Record<string, Node> = {
  root: { id: "root", parent: null, children: ["sys"], message: null },
  sys: {
    id: "sys",
    parent: "root",
    message: said("sys", "system", 1, { content: { content_type: "text", parts: [""] } }),
  },
  ctx: {
    id: "ctx",
    parent: "sys",
    message: said("ctx", "user", 1, {
      content: { content_type: "user_editable_context", user_profile: "p", user_instructions: "i" },
    }),
  },
  set: {
    id: "set",
    parent: "ctx",
    message: said("set", "assistant", 1, {
      content: {
        content_type: "model_editable_context",
        model_set_context:
          "1. [2024-12-31]. Has a dog.\nIts name is Rex.\n\n2. [2025-01-01]. Lives in Lisbon.",
      },
    }),
  },
  u1: {
    id: "u1",
    parent: "set",
    message: said("u1", "user", 1, {
      content: {
        content_type: "multimodal_text",
        parts: [
          { content_type: "image_asset_pointer", asset_pointer: "file-service://file-1", width: 1 },
          "Look 🐶",
        ],
      },
    }),
  },
  a0: { id: "a0", parent: "u1", message: said("a0", "assistant", 1) },
  a1: {
    id: "a1",
    parent: "u1",
    message: said("a1", "assistant", 2, { create_time: null, metadata: { model_slug: "gpt-4o" } }),
  },
  th: {
    id: "th",
    parent: "a1",
    message: said("th", "assistant", 2, {
      content: { content_type: "thoughts", thoughts: [{ summary: "S", content: "C" }] },
    }),
  },
  rr: {
    id: "rr",
    parent: "th",
    message: said("rr", "assistant", 2, {
      content: { content_type: "reasoning_recap", content: "Thought for 2s" },
    }),
  },
  bio: {
    id: "bio",
    parent: "rr",
    message: said("bio", "assistant", 2, {
      recipient: "bio",
      content: { content_type: "text", parts: ["Likes green tea."] },
    }),
  },
  bt: {
    id: "bt",
    parent: "bio",
    message: said("bt", "tool", 2, {
      author: { role: "tool", name: "bio", metadata: {} },
      content: { content_type: "text", parts: ["Model set context updated."] },
    }),
  },
  code: {
    id: "code",
    parent: "bt",
    message: said("code", "assistant", 3, {
      recipient: "python",
      content: { content_type: "code", language: "unknown", text: "print(1)" },
    }),
  },
  out: {
    id: "out",
    parent: "code",
    message: said("out", "tool", 3, {
      author: { role: "tool", name: "python" },
      content: { content_type: "execution_output", text: "1" },
    }),
  },
  page: {
    id: "page",
    parent: "out",
    message: said("page", "tool", 3, {
      author: { role: "tool", name: "browser" },
      content: {
        content_type: "tether_quote",
        url: "https://example.com",
        domain: "example.com",
        title: "T",
        text: "Quoted",
      },
    }),
  },
  odd: {
    id: "odd",
    parent: "page",
    message: said("odd", "assistant", 3, { content: { content_type: "super_widget", widget: { a: 1 } } }),
  },
  end: {
    id: "end",
    parent: "odd",
    message: said("end", "user", 4, { content: { content_type: "text", parts: ["Thanks", ""] } }),
  },
};
export const chatgpt = [
  {
    title: "Dogs",
    create_time: at(1),
    update_time: at(4),
    mapping,
    current_node: "end",
    conversation_id: "c1",
    id: "c1",
    is_archived: false,
  },
  // Without a current message; its first message was deleted.
  {
    title: null,
    create_time: at(5),
    update_time: null,
    id: "c2",
    mapping: {
      b: { id: "b", parent: "deleted", message: said("b", "user", 5) },
      c: { id: "c", parent: "b", message: said("c", "assistant", 6) },
      d: { id: "d", parent: "b", message: said("d", "assistant", 5) },
    },
  },
  {
    title: "Nothing",
    create_time: at(6),
    update_time: at(6),
    id: "c3",
    mapping: { root: { id: "root", parent: null, message: null } },
    current_node: "root",
  },
];
