// The hook of a coding agent. The agent passes an event as JSON: a session or a prompt gets memory, and what was said is stored after each
// answer. It needs Node alone. A Cairn that does not answer stops nothing: the agent shows the error and goes on.
import { readFile } from "node:fs/promises";
import { json } from "node:stream/consumers";

const { CAIRN_URL = "http://127.0.0.1:8787", CAIRN_TOKEN = "" } = process.env;
const WITHIN_MS = 5_000;
/** The most messages of one call. */
const MESSAGES = 1_000;

async function cairn(path, body) {
  // A token names its user.
  const { sub } = JSON.parse(Buffer.from(CAIRN_TOKEN.split(".")[1] ?? "", "base64url").toString() || "{}");
  if (!sub || sub === "*")
    throw new Error("CAIRN_TOKEN has to be a token of one user: npm run token -- --user ID");
  const response = await fetch(`${CAIRN_URL}/v1/users/${encodeURIComponent(sub)}/${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${CAIRN_TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** What the user and the agent said, of the lines of a transcript: no tool's result, and nothing that the agent inserted. */
function messagesOf(transcript) {
  return transcript
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter(({ type, isMeta, isSidechain }) => /^(user|assistant)$/.test(type) && !isMeta && !isSidechain)
    .map(({ type: role, message, timestamp }) => ({ role, content: textOf(message.content), timestamp }))
    .filter(({ content }) => content !== "");
}

const textOf = (content) =>
  (typeof content === "string" ? content : content.flatMap(({ text }) => text ?? []).join("\n")).trim();

const events = {
  /** The stable block: the user's standing instructions and facts. */
  SessionStart: async () => (await cairn("context", {})).stable.text,
  /** What is recalled for this prompt; nothing for "thanks!". */
  UserPromptSubmit: async ({ prompt }) => {
    const layers = [{ type: "recalled", kinds: ["fact", "procedure", "episode"] }];
    return (await cairn("context", { query: prompt, layers })).recalled.text;
  },
  /** The whole conversation each time: Cairn stores what is new, and extracts memories in the background. */
  Stop: async ({ session_id: sessionId, transcript_path: path }) => {
    const all = messagesOf(await readFile(path, "utf8")).slice(-MESSAGES);
    const messages = all.map(({ role, content }) => ({ role, content }));
    const createdAt = all.map(({ timestamp }) => Date.parse(timestamp));
    if (messages.length > 0) await cairn("ingest", { sessionId, messages, createdAt });
  },
};
events.SessionEnd = events.Stop;

try {
  const event = await json(process.stdin);
  const additionalContext = await events[event.hook_event_name]?.(event);
  if (additionalContext) {
    const hookSpecificOutput = { hookEventName: event.hook_event_name, additionalContext };
    console.log(JSON.stringify({ hookSpecificOutput }));
  }
} catch (error) {
  console.error(`Cairn: ${error.message}`);
  // Of the exit codes of a hook, 2 would stop the agent.
  process.exitCode = 1;
}
