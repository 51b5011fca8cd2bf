// Several people and one assistant. The memory is Ana's, and what a guest says is remembered as the guest's:
// `node chat.js "Ana: I live in Porto" "Bob: I'm allergic to peanuts" "Ana: @bot what can Bob not eat?"`
import { gateway, generateText } from "ai";
import { cairn } from "edgecairn";
import { scriptedModel } from "../scripted-model.js";

/** The owner of the memory. An app sends ids as names: a guest may call themselves Ana. */
const OWNER = "Ana";
const RULES = `You are Ana's assistant in a group. Each message begins with the name of who wrote it. A line of memory with a name is what
that person said; one without a name is what Ana said.`;
/** The prompt quotes no former conversation: a fact that changed is in it as it is now. */
const layers = [
  { type: "instructions" },
  { type: "profile" },
  { type: "facts" },
  { type: "recalled", kinds: ["fact"] },
];

/** A conversation of the group. Its `say` takes a message, and returns the answer to one that calls the bot. */
export function room({ memory, user, model, sessionId = crypto.randomUUID() }) {
  const messages = [];
  let threadId;

  async function say(name, content) {
    messages.push({ role: "user", name, content });
    const answer = content.includes("@bot") ? await answerTo(name, content) : undefined;
    if (answer !== undefined) messages.push({ role: "assistant", content: answer });
    // Nobody's words are Ana's before Ana is here. Then all that was said is stored, each message once. An app leaves out `mode`, and
    // waits for nothing.
    if (messages.some((message) => message.name === OWNER))
      ({ threadId } = await memory.ingest(user, { sessionId, messages, owners: [OWNER], mode: "wait" }));
    return answer;
  }

  async function answerTo(name, query) {
    const { stable, recalled } = await memory.context(user, { query, threadId, layers });
    const earlier = messages.slice(0, -1).map(({ role, name: who, content }) => ({
      role,
      content: role === "user" ? `${who}: ${content}` : content,
    }));
    const { text } = await generateText({
      model,
      instructions: `${RULES}\n\n${stable.text}`,
      messages: [...earlier, { role: "user", content: `${recalled.text}\n\n${name}: ${query}`.trim() }],
    });
    return text;
  }

  return { say };
}

if (process.argv[1] === import.meta.filename) {
  const { CAIRN_URL: url, CAIRN_TOKEN: token, CAIRN_USER: user = "alice", AI_GATEWAY_API_KEY } = process.env;
  const { MODEL = "openai/gpt-5-mini" } = process.env;
  const lines = process.argv.slice(2).map((line) => /^(\w+): (.+)$/s.exec(line));
  if (lines.length === 0 || lines.includes(null) || !url || !token) {
    console.error(
      'CAIRN_URL=… CAIRN_TOKEN=… node chat.js "Ana: I live in Porto" "Bob: @bot where does Ana live?"',
    );
    process.exit(2);
  }
  const model = AI_GATEWAY_API_KEY ? gateway(MODEL) : scriptedModel;
  const { say } = room({ memory: cairn({ url, token }), user, model });
  for (const [, name, text] of lines) {
    const answer = await say(name, text);
    if (answer !== undefined) console.log(`bot: ${answer}`);
  }
}
