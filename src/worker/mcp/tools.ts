import { memoryContext } from "./tools/context.ts";
import { memoryForgetFact } from "./tools/forget-fact.ts";
import { memoryForgetProcedure } from "./tools/forget-procedure.ts";
import { memoryGetProcedure } from "./tools/get-procedure.ts";
import { memoryHistoryTool } from "./tools/history.ts";
import { memoryListProcedures } from "./tools/list-procedures.ts";
import { memoryList } from "./tools/list.ts";
import { memoryRecall } from "./tools/recall.ts";
import { memoryRememberFact } from "./tools/remember-fact.ts";
import { memoryRemember } from "./tools/remember.ts";
import { memoryStoreProcedure } from "./tools/store-procedure.ts";
import { threadSearch } from "./tools/thread-search.ts";
import type { Tool } from "./tool.ts";

/** All tools, in the order of their list: always the same, so that prompts can be cached. */
export const tools: readonly Tool[] = [
  memoryRecall,
  threadSearch,
  memoryRemember,
  memoryRememberFact,
  memoryForgetFact,
  memoryList,
  memoryHistoryTool,
  memoryListProcedures,
  memoryGetProcedure,
  memoryStoreProcedure,
  memoryForgetProcedure,
  memoryContext,
];
