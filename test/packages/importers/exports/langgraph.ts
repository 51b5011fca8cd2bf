// Exports of LangGraph as its documents show them, with odd values.
import { iso } from "./times.ts";

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
