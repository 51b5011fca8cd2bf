// Exports of mem0 as its documents show them, with odd values.
import { iso } from "./times.ts";

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
