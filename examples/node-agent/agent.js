// An agent that remembers: `node agent.js "I live in Lisbon"`, and another day `node agent.js "Where do I live?"`.
import { gateway, generateText, jsonSchema, Output, wrapLanguageModel } from "ai";
import { cairn } from "edgecairn";
import { cairnMemory } from "edgecairn/adapters/ai-sdk";
import { scriptedModel } from "../scripted-model.js";

/** The prompt quotes no former run: a fact that changed is in it as it is now. */
const layers = [
  { type: "instructions" },
  { type: "profile" },
  { type: "facts" },
  { type: "recalled", kinds: ["fact"] },
];

/** Answers in a conversation of its own, stores it, and learns what it says about the user. */
export async function ask({ memory, user, model }, prompt) {
  const { id: thread } = await memory.threads.create(user, { agent: "node-agent" });
  const middleware = cairnMemory({ memory, user, thread, strict: true, context: { layers } });
  const { text } = await generateText({
    model: wrapLanguageModel({ model, middleware }),
    instructions: "You are a helpful assistant with a memory. Answer briefly.",
    prompt,
  });
  const facts = await factsIn({ model, prompt });
  // The user's message is the first of the thread. Cairn checks each fact against it.
  const extracted = { facts: facts.map((fact) => ({ ...fact, subject: "user", sources: [1] })) };
  if (facts.length > 0) await memory.ingest(user, { threadId: thread, extracted, mode: "wait" });
  return text;
}

const fact = { type: "object", properties: { predicate: { type: "string" }, object: { type: "string" } } };
const schema = jsonSchema({ type: "object", properties: { facts: { type: "array", items: fact } } });

/** What the message says about its writer, in its own words. */
async function factsIn({ model, prompt }) {
  const instructions =
    'List what the message says about its writer that will still be true next month, in the words of the message. Write each predicate in the third person: "lives in", "works at", "is allergic to".';
  const { output } = await generateText({ model, instructions, prompt, output: Output.object({ schema }) });
  return output.facts;
}

if (process.argv[1] === import.meta.filename) {
  const { CAIRN_URL: url, CAIRN_TOKEN: token, CAIRN_USER: user = "alice", AI_GATEWAY_API_KEY } = process.env;
  const { MODEL = "openai/gpt-5-mini" } = process.env;
  const prompt = process.argv.slice(2).join(" ");
  if (!prompt || !url || !token) {
    console.error('CAIRN_URL=… CAIRN_TOKEN=… node agent.js "I live in Lisbon"');
    process.exit(2);
  }
  const model = AI_GATEWAY_API_KEY ? gateway(MODEL) : scriptedModel;
  console.log(await ask({ memory: cairn({ url, token }), user, model }, prompt));
}
