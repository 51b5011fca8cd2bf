// Exports of supermemory as its documents show them, with odd values.
import { iso } from "./times.ts";

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
