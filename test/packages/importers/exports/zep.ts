// Exports of Zep as its documents show them, with odd values.
import { iso } from "./times.ts";

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
