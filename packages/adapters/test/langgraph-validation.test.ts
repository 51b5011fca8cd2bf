// The SDK's own suite for checkpointers, whole. It wants the test functions as globals.
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CairnSaver } from "../src/langgraph.ts";
import { clientOf, newUser } from "./cairn.ts";

Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

const initializer = {
  checkpointerName: "edgecairn",
  createCheckpointer: async () => {
    const user = newUser();
    return new CairnSaver({ memory: await clientOf(user), user });
  },
};

validate(initializer);
deltaChannelHistoryTests(initializer);
