// A data export of Claude, with odd values.
import { iso } from "./times.ts";

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
