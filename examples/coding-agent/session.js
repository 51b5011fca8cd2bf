// Plays sessions as a coding agent does: it runs the hooks of .claude/settings.json, and a script answers with the memory in its prompt.
// `node session.js "Always use pnpm here." "thanks!"` is one session of two prompts.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const { hooks } = JSON.parse(await readFile(join(import.meta.dirname, ".claude/settings.json"), "utf8"));

/** Runs the commands of an event, and returns what they add to the prompt. */
async function run(event, env = process.env) {
  const commands = hooks[event.hook_event_name].flatMap((entry) => entry.hooks);
  const added = await Promise.all(
    commands.map(async ({ command }) => {
      const child = spawn(command, { shell: true, env: { ...env, CLAUDE_PROJECT_DIR: import.meta.dirname } });
      child.stdin.end(JSON.stringify(event));
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
      if (errors) console.error(errors.trim());
      return output === "" ? [] : [JSON.parse(output).hookSpecificOutput.additionalContext];
    }),
  );
  return added.flat();
}

/** One session. `model` gets each prompt as a list of texts. Returns the answers. */
export async function session({ prompts, model, env, id = crypto.randomUUID(), now = () => new Date() }) {
  const folder = await mkdtemp(join(tmpdir(), "session-"));
  const path = join(folder, "transcript.jsonl");
  const of = (name, more) => ({ session_id: id, transcript_path: path, hook_event_name: name, ...more });
  const prefix = await run(of("SessionStart", { source: "startup" }), env);
  const lines = [];
  const answers = [];
  for (const prompt of prompts) {
    const added = await run(of("UserPromptSubmit", { prompt }), env);
    answers.push(await model([...prefix, ...added, prompt]));
    for (const [type, content] of [
      ["user", prompt],
      ["assistant", [{ type: "text", text: answers.at(-1) }]],
    ])
      lines.push(JSON.stringify({ type, message: { role: type, content }, timestamp: now().toISOString() }));
    await writeFile(path, lines.join("\n"));
    await run(of("Stop"), env);
  }
  await run(of("SessionEnd", { reason: "other" }), env);
  await rm(folder, { recursive: true });
  return answers;
}

/** Calls a tool of the MCP server in .mcp.json, as the agent's model does. */
export async function tool(name, args, env = process.env) {
  const file = await readFile(join(import.meta.dirname, ".mcp.json"), "utf8");
  const set = file.replaceAll(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, key, otherwise = "") => env[key] ?? otherwise,
  );
  const { url, headers } = JSON.parse(set).mcpServers.cairn;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...headers,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  // One answer, as JSON or as a stream of one event.
  const answer = (await response.text()).replace(/^[^]*?^data: /m, "");
  return JSON.parse(answer).result.content[0].text;
}

/** Stands in for a model: it answers with the lines of memory in its prompt. */
export const scripted = (prompt) => {
  const lines = prompt.flatMap((part) => part.match(/^- .+$/gm) ?? []);
  return lines.length === 0 ? "I know nothing about that yet." : `I remember:\n${lines.join("\n")}`;
};

if (process.argv[1] === import.meta.filename) {
  const prompts = process.argv.slice(2);
  if (prompts.length === 0) {
    console.error('node session.js "Always use pnpm here." "thanks!"');
    process.exit(2);
  }
  for (const answer of await session({ prompts, model: scripted })) console.log(answer);
}
