// Exports of other systems as their documents show them, in several versions and with what is odd in them.

const at = (day: number, hour = 0): number => Date.UTC(2025, 0, day, hour) / 1000;
const iso = (day: number): string => new Date(Date.UTC(2025, 0, day)).toISOString();

export const mem0 = {
  /** `get_all` of the platform, version 2. */
  platform: {
    count: 4,
    next: null,
    results: [
      {
        id: "m1",
        memory: "Alice lives in Lisbon",
        user_id: "alice",
        agent_id: "travel",
        metadata: { project: "move", cairnEntry: "k" },
        categories: ["places"],
        created_at: "2025-01-02T01:30:36.275141-07:00",
        updated_at: "2025-01-03T00:00:00Z",
        expiration_date: null,
        structured_attributes: { day: 2 },
      },
      {
        id: "m2",
        memory: "Bob plays the cello 🎻",
        user_id: "bob",
        created_at: "2025-01-02 08:00:00",
        metadata: null,
      },
      { id: "m3", memory: "over", user_id: "bob", created_at: iso(1), expiration_date: "2025-01-05" },
      { id: "m4", memory: "An agent's own", agent_id: "travel", created_at: iso(1), updated_at: null },
      { id: "m1", memory: "the same id again", user_id: "alice", created_at: iso(1) },
      { id: "m5", memory: "  ", user_id: "alice", created_at: iso(1) },
    ],
  },
  /** `get_all` of the open-source package, with a graph. */
  oss: {
    results: [
      {
        id: "o1",
        memory: "Likes tea",
        hash: "abc",
        metadata: null,
        created_at: iso(2),
        updated_at: null,
        user_id: "alice",
      },
    ],
    relations: [
      { source: "alice", relationship: "lives_in", target: "lisbon" },
      { source: "alice", relationship: "knows", destination: "" },
    ],
  },
  /** `get_all` of version 1 of the API, a list. */
  list: [{ id: "l1", memory: "Has a sister", user_id: "alice", created_at: iso(2), updated_at: iso(2) }],
  history: [
    {
      id: "h1",
      memory_id: "x",
      old_memory: null,
      new_memory: "Likes tea",
      event: "ADD",
      created_at: iso(1),
      is_deleted: 0,
    },
    {
      id: "h2",
      memory_id: "x",
      old_memory: "Likes tea",
      new_memory: "Likes coffee",
      event: "UPDATE",
      created_at: iso(1),
      updated_at: iso(4),
      is_deleted: 0,
    },
    {
      id: "h3",
      memory_id: "y",
      old_memory: null,
      new_memory: "Gone",
      event: "ADD",
      created_at: iso(1),
      is_deleted: 0,
    },
    {
      id: "h4",
      memory_id: "y",
      old_memory: "Gone",
      new_memory: null,
      event: "DELETE",
      created_at: iso(2),
      is_deleted: 1,
    },
  ],
};

export const zep = {
  graph: {
    edges: [
      {
        uuid: "e1",
        fact: "Alice lives in Porto",
        name: "LIVES_IN",
        source_node_uuid: "n1",
        target_node_uuid: "n2",
        created_at: iso(1),
        valid_at: iso(1),
        invalid_at: iso(3),
        expired_at: iso(4),
        episodes: ["p1"],
      },
      {
        uuid: "e2",
        fact: "Alice lives in Lisbon",
        name: "LIVES_IN",
        source_node_uuid: "n1",
        target_node_uuid: "n3",
        created_at: iso(3),
        valid_at: iso(3),
        invalid_at: null,
        expired_at: null,
      },
      {
        uuid: "e3",
        fact: "Alice was ill",
        name: "WAS",
        source_node_uuid: "n1",
        target_node_uuid: "n1",
        created_at: iso(9),
        invalid_at: iso(5),
      },
      {
        uuid: "e4",
        fact: "nonsense",
        name: "IS",
        source_node_uuid: "n1",
        target_node_uuid: "n1",
        created_at: iso(1),
        valid_at: iso(5),
        invalid_at: iso(5),
      },
    ],
    nodes: [
      { uuid: "n1", name: "Alice", summary: "A cellist in Lisbon", labels: ["Person"], created_at: iso(1) },
      { uuid: "n2", name: "Porto", summary: "", labels: [], created_at: iso(1) },
    ],
    episodes: [
      { uuid: "p1", content: "Alice: I live in Porto", source: "message", created_at: iso(1) },
      { uuid: "p2", content: '{"plan":"pro"}', source: "json", created_at: iso(2) },
    ],
  },
  /** Threads of version 3. */
  threads: {
    threads: [
      {
        thread_id: "t1",
        user_id: "alice",
        created_at: iso(1),
        messages: [
          { uuid: "z1", role: "user", name: "Alice", content: "I live in Porto", created_at: iso(1) },
          { uuid: "z2", role: "assistant", content: "Noted", created_at: iso(2) },
        ],
      },
      { thread_id: "t2", user_id: "bob", created_at: iso(1) },
    ],
  },
  /** Sessions of version 2, and facts of the community edition. */
  sessions: {
    sessions: [
      {
        session_id: "s1",
        user_id: "alice",
        created_at: iso(1),
        messages: [{ uuid: "y1", role: "john", role_type: "user", content: "Hello", created_at: null }],
      },
    ],
    facts: [{ uuid: "f1", fact: "John says hello", rating: 0.4, created_at: iso(1) }],
  },
};

export const supermemory = {
  documents: {
    memories: [
      {
        id: "d1",
        title: "Recipe",
        content: "Boil the pasta",
        summary: "Pasta",
        type: "text",
        containerTags: ["alice"],
        metadata: { course: "main" },
        status: "done",
        createdAt: iso(1),
        updatedAt: iso(2),
        customId: null,
        connectionId: null,
      },
      {
        id: "d2",
        title: "Empty",
        summary: null,
        containerTags: ["alice"],
        status: "failed",
        createdAt: iso(1),
        updatedAt: iso(1),
        metadata: null,
      },
    ],
    pagination: { currentPage: 1, totalItems: 2, totalPages: 1 },
  },
  entries: [
    {
      id: "s1",
      memory: "Likes pasta",
      version: 2,
      isLatest: true,
      isForgotten: false,
      spaceContainerTag: "alice",
      createdAt: iso(1),
      updatedAt: iso(3),
      metadata: "plain",
    },
    {
      id: "s0",
      memory: "Likes rice",
      version: 1,
      isLatest: false,
      isForgotten: false,
      spaceContainerTag: "alice",
      createdAt: iso(1),
      updatedAt: iso(1),
    },
    {
      id: "s2",
      memory: "Secret",
      isLatest: true,
      isForgotten: true,
      spaceContainerTag: "alice",
      createdAt: iso(1),
      updatedAt: iso(1),
    },
  ],
};

export const langgraph = {
  items: [
    {
      namespace: ["memories", "alice"],
      key: "k1",
      value: { text: "Likes tea" },
      created_at: "2025-01-02T03:04:05.678901+00:00",
      updated_at: iso(3),
    },
    {
      namespace: ["memories", "bob"],
      key: "k1",
      value: { kind: "Memory", content: { content: "Plays the cello" } },
      createdAt: iso(1),
      updatedAt: iso(1),
    },
    {
      namespace: ["profile"],
      key: "p",
      value: { name: "Alice", age: 40 },
      created_at: iso(1),
      updated_at: iso(1),
    },
  ],
  /** Rows of the table `store` of the Postgres store, a line each. */
  rows: [
    {
      prefix: "memories.alice",
      key: "k2",
      value: { content: "Has a dog" },
      created_at: "2025-01-02 03:04:05+00",
      updated_at: iso(3),
    },
  ],
  threads: [
    {
      thread_id: "g1",
      created_at: iso(1),
      updated_at: iso(2),
      values: {
        messages: [
          { type: "human", content: "Weather?", id: "a" },
          { type: "ai", content: "", id: "b", tool_calls: [{ name: "weather", args: {}, id: "c1" }] },
          { type: "tool", content: "sunny", tool_call_id: "c1", id: "c" },
          {
            lc: 1,
            type: "constructor",
            id: ["langchain", "schema", "messages", "AIMessageChunk"],
            kwargs: { content: "Sunny", id: "d", tool_calls: [] },
          },
          { type: "human", data: { content: "Thanks" } },
        ],
      },
    },
    {
      config: { configurable: { thread_id: "g2" } },
      checkpoint: { ts: iso(4), channel_values: { messages: [{ role: "user", content: "Hi" }] } },
    },
    { thread_id: "g3", created_at: iso(1), values: null },
  ],
};

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

const ROOT = "00000000-0000-4000-8000-000000000000";
export const claude = {
  conversations: [
    {
      uuid: "k1",
      name: "Boats",
      summary: "They spoke of boats.",
      created_at: "2025-01-01T00:00:00.000000Z",
      updated_at: iso(3),
      account: { uuid: "acct" },
      chat_messages: [
        {
          uuid: "q1",
          text: "See the file",
          content: [
            {
              type: "text",
              text: "See the file",
              start_timestamp: null,
              stop_timestamp: null,
              flags: null,
              citations: [],
            },
          ],
          sender: "human",
          created_at: iso(1),
          updated_at: iso(1),
          attachments: [{ file_name: "a.txt", file_size: 3, file_type: "txt", extracted_content: "masts" }],
          files: [{ file_name: "photo.png" }],
          parent_message_uuid: ROOT,
        },
        {
          uuid: "q2",
          text: "First answer",
          content: [{ type: "text", text: "First answer" }],
          sender: "assistant",
          created_at: iso(1),
          attachments: [],
          files: [],
          parent_message_uuid: "q1",
        },
        {
          uuid: "q3",
          text: "",
          content: [
            { type: "thinking", thinking: "hm", summaries: [] },
            { type: "tool_use", name: "web", input: { q: "boat" }, id: "t" },
            { type: "tool_result", tool_use_id: "t", content: [] },
            { type: "text", text: "Second answer" },
          ],
          sender: "assistant",
          created_at: iso(2),
          attachments: [],
          files: [],
          parent_message_uuid: "q1",
        },
        {
          uuid: "q4",
          text: "Old exports have the text alone",
          sender: "human",
          created_at: iso(3),
          parent_message_uuid: "q3",
        },
        {
          uuid: "q5",
          text: "",
          content: [],
          sender: "assistant",
          created_at: iso(3),
          parent_message_uuid: "q4",
        },
      ],
    },
    {
      uuid: "k2",
      name: "",
      created_at: iso(1),
      updated_at: iso(1),
      account: { uuid: "acct" },
      chat_messages: [],
    },
  ],
  memories: [
    {
      conversations_memory: "**Work context**\n\nBuilds boats.\n\n**Personal context**\n\nLives in Lisbon.",
      project_memories: { p1: "Use oak." },
      account_uuid: "acct",
    },
  ],
  projects: [
    {
      uuid: "p1",
      name: "Hull",
      description: "The new hull",
      prompt_template: "Answer in metres.",
      created_at: iso(1),
      updated_at: iso(2),
      creator: { uuid: "acct", full_name: "A" },
      docs: [{ uuid: "doc1", filename: "plan.md", content: "# Plan", created_at: iso(1) }],
    },
    {
      uuid: "p2",
      name: "Empty",
      description: "",
      prompt_template: "",
      created_at: iso(1),
      updated_at: iso(1),
      docs: [],
    },
  ],
};
