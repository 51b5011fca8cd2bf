/** What a model wants before a text. `name` is a part of the space's name: to change a prompt is to change its name. */
export type Prompts = { name: string; query: string; document: string };

/** The task that Qwen3-Embedding's card gives as the general one; Workers AI's default too. */
export const QWEN3_TASK = "Given a web search query, retrieve relevant passages that answer the query";

/** As the models' cards on Hugging Face have them. */
export const prompts = {
  none: { name: "none", query: "", document: "" },
  /** BAAI/bge-*-en-v1.5: queries only. bge-m3's card says that it wants none. */
  bgeEn: {
    name: "bge-en",
    query: "Represent this sentence for searching relevant passages: ",
    document: "",
  },
  embeddingGemma: {
    name: "embeddinggemma",
    query: "task: search result | query: ",
    document: "title: none | text: ",
  },
  qwen3: { name: "qwen3", query: `Instruct: ${QWEN3_TASK}\nQuery:`, document: "" },
  e5: { name: "e5", query: "query: ", document: "passage: " },
  nomic: { name: "nomic", query: "search_query: ", document: "search_document: " },
} as const satisfies Record<string, Prompts>;
