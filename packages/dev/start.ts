// `npm start`: sets everything up, serves until Ctrl-C, and says how to try it. `--demo` fills in the example conversations.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Cairn, cairn } from "#client/index.ts";
import { type Example, fillDemo } from "../console/src/demo/demo-state.ts";
import { scopes } from "#domain/token.ts";
import { consoleLink } from "./console-link.ts";
import { developmentSecret } from "./development-secret.ts";
import { onEnter } from "./on-enter.ts";
import { STATE } from "./server-address.ts";
import {
  askedToStop,
  CannotStart,
  developmentToken,
  type LocalServer,
  silent,
  startLocalServer,
} from "./local-server.ts";

const { PORT = "" } = process.env;
const { CAIRN_HOST = "" } = process.env;
const ip = CAIRN_HOST === "" ? "127.0.0.1" : CAIRN_HOST;
const port = Number(PORT === "" ? 8787 : PORT);

function welcome(url: string, { link, alice }: { link: string; alice: string }): string {
  return `
Cairn is up at ${url} (API reference: ${url}/docs, MCP: ${url}/mcp). Ctrl-C stops it and keeps its data.

The console, by a link for everything that works once, within ten minutes. Enter prints another:

${link}

Where it is, and a token for the user "alice", good for a day:

export CAIRN_URL=${url}
export CAIRN_TOKEN=${alice}

Remember something, recall it, and see what is there:

curl -sS $CAIRN_URL/v1/users/alice/memories -H "Authorization: Bearer $CAIRN_TOKEN" -H "Content-Type: application/json" -d '{"text":"I moved to Lisbon in March"}'
curl -sS $CAIRN_URL/v1/users/alice/recall -H "Authorization: Bearer $CAIRN_TOKEN" -H "Content-Type: application/json" -d '{"query":"where do I live?"}'
curl -sS $CAIRN_URL/v1/users/alice/memories -H "Authorization: Bearer $CAIRN_TOKEN"
`;
}

/** Fills in the example conversations, each for a user of its name. */
async function fillDemos(url: string, token: string): Promise<void> {
  const memory = cairn({ url, token });
  for (const name of ["support-case", "home-cook", "coding-agent"]) {
    const file = readFileSync(join(import.meta.dirname, `../../examples/${name}.json`), "utf8");
    const { conversations } = JSON.parse(file) as { conversations: Example[] };
    for (const example of conversations) await fillDemo(memory, example.id, example, () => {});
    console.log(`Filled in the user "${name}": look at it in the console.`);
  }
  const answers = await Promise.all(QUESTIONS.map((question) => answered(memory, question)));
  console.log(`\nAsk them, as your program would. The first hit of a recall:\n\n${answers.join("\n\n")}\n`);
}

/** A question about each example. Two are about something that changed. */
const QUESTIONS = [
  ["support-case", "Where does Annika live?"],
  ["home-cook", "What is our food budget?"],
  ["coding-agent", "How do I log in on the Pi?"],
] as const;

/** Asks a question, and says what comes first and, if that took the place of something, what was so before. */
async function answered(memory: Cairn, [user, query]: (typeof QUESTIONS)[number]): Promise<string> {
  const { hits } = await memory.recall(user, { query, k: 1 });
  const [first] = hits;
  if (first === undefined) return `${user}: ${query}\n  (nothing)`;
  const { items } =
    first.supersedes === undefined ? { items: [] } : await memory.memories.history(user, first.id);
  const former = items.find(({ version }) => version === first.supersedes);
  const before =
    former?.validTo === undefined
      ? ""
      : `\n  Until ${new Date(former.validTo).toISOString().slice(0, 10)}: ${former.text}`;
  return `${user}: ${query}\n  ${first.text}${before}`;
}

/** The problems with which the Worker serves all the same. */
async function problemsOf(url: string): Promise<string[]> {
  const { problems = [] } = (await (await fetch(`${url}/health`)).json()) as { problems?: string[] };
  return problems;
}

async function main(): Promise<number> {
  const unknown = process.argv.slice(2).find((option) => option !== "--demo");
  if (unknown !== undefined) {
    console.error(
      `npm start has no option '${unknown}'. It has --demo, which fills in the example conversations, and takes the port and the state's folder from PORT and CAIRN_STATE.`,
    );
    return 1;
  }
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    console.error(`PORT must be a number from 1 to 65535, not '${process.env.PORT}'.`);
    return 1;
  }
  // Loopback, which the server's own checks ask, is part of all addresses alone.
  if (!["127.0.0.1", "0.0.0.0"].includes(ip)) {
    console.error(`CAIRN_HOST must be 127.0.0.1, or 0.0.0.0 for all addresses, not '${ip}'.`);
    return 1;
  }
  console.log("Setting up the local database and starting the Worker …");
  const asked = askedToStop();
  let server: LocalServer | "asked";
  try {
    server = await Promise.race([startLocalServer({ port, state: STATE, ip }), asked]);
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error;
    console.error(error.message);
    return 1;
  }
  // The processes started so far end with this one.
  if (server === "asked") process.exit(130);
  const tokens = { all: await developmentToken("*"), alice: await developmentToken("alice") };
  const { url } = server;
  const newLink = () => consoleLink(url, developmentSecret(), { user: "*", scope: scopes });
  console.log(welcome(url, { link: await newLink(), alice: tokens.alice }));
  const leaveKeys = onEnter(process.stdin, async () => console.log(await newLink()));
  // npm keeps an option that stands before its `--` to itself.
  if (process.argv.includes("--demo") || process.env.npm_config_demo === "true")
    await fillDemos(server.url, tokens.all);
  for (const problem of await problemsOf(server.url)) console.error(`Problem: ${problem}`);
  const why = await Promise.race([
    asked,
    server.ended.then(() => "ended" as const),
    silent(server.url).then(() => "silent" as const),
  ]);
  leaveKeys();
  await server.stop();
  if (why === "ended") console.error("The Worker ended by itself.");
  if (why === "silent")
    console.error("The Worker stopped answering. Stored data is safe: run npm start again.");
  return why === "asked" ? 0 : 1;
}

process.exitCode = await main();
