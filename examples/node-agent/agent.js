// An agent that remembers: `node agent.js "I live in Lisbon"`, and another day `node agent.js "Where do I live?"`.
import { gateway, generateText, isStepCount, wrapLanguageModel } from "ai";
import { cairn } from "edgecairn";
import { cairnMemory, memoryTools } from "edgecairn/adapters/ai-sdk";
import { offlineModel } from "./offline-model.js";

const { CAIRN_URL, CAIRN_TOKEN, CAIRN_USER: user = "alice" } = process.env;
const { AI_GATEWAY_API_KEY, MODEL = "openai/gpt-5-mini" } = process.env;

const prompt = process.argv.slice(2).join(" ");
if (!prompt || !CAIRN_URL || !CAIRN_TOKEN) {
  console.error('CAIRN_URL=… CAIRN_TOKEN=… node agent.js "I live in Lisbon"');
  process.exit(2);
}

const memory = cairn({ url: CAIRN_URL, token: CAIRN_TOKEN });
const thread = { agent: "node-agent" };

const { text } = await generateText({
  model: wrapLanguageModel({
    model: AI_GATEWAY_API_KEY ? gateway(MODEL) : offlineModel,
    middleware: cairnMemory({ memory, user, thread, history: 20, strict: true }),
  }),
  instructions:
    "You are a helpful assistant with a memory. Remember what the user tells you about themselves.",
  tools: memoryTools({ memory, user }),
  stopWhen: isStepCount(5),
  prompt,
});
console.log(text);
