import type { Source, SourceName } from "../source.ts";
import { chatgpt } from "./chatgpt.ts";
import { claude } from "./claude.ts";
import { langgraph } from "./langgraph.ts";
import { mem0 } from "./mem0.ts";
import { supermemory } from "./supermemory.ts";
import { zep } from "./zep.ts";

export const sources: Readonly<Record<SourceName, Source>> = {
  mem0,
  zep,
  supermemory,
  langgraph,
  chatgpt,
  claude,
};
