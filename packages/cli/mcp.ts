// `npm run mcp -- --client claude`: prints how a client of MCP gets this Cairn: a command, or a block of its configuration.
import { optionsOf, refuse } from "./transfer/cairn.ts";
import { calledAs } from "./transfer/called-as.ts";

/** The form of the token in the printed text: `CAIRN_TOKEN` of the environment, or the token itself. */
type Said = { url: string; token: string | null };

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** One line or block for each client, and where it belongs. */
const clients: Record<string, { where: string; text: (said: Said) => string }> = {
  claude: {
    where: "Run this command",
    text: ({ url, token }) =>
      `claude mcp add --transport http --scope user cairn ${shell(url)} --header "Authorization: Bearer ${token ?? "$CAIRN_TOKEN"}"`,
  },
  codex: {
    where: "Run this command; Codex reads CAIRN_TOKEN of its environment whenever it starts",
    text: ({ url }) => `codex mcp add cairn --url ${shell(url)} --bearer-token-env-var CAIRN_TOKEN`,
  },
  cursor: {
    where: "Merge this into ~/.cursor/mcp.json, or into .cursor/mcp.json of a project",
    text: ({ url, token }) =>
      json({
        mcpServers: {
          cairn: { url, headers: { Authorization: `Bearer ${token ?? "${env:CAIRN_TOKEN}"}` } },
        },
      }),
  },
  vscode: {
    where: "Merge this into .vscode/mcp.json",
    text: ({ url, token }) => {
      const server = (header: string) => ({
        cairn: { type: "http", url, headers: { Authorization: header } },
      });
      if (token !== null) return json({ servers: server(`Bearer ${token}`) });
      const input = { type: "promptString", id: "cairn-token", description: "Cairn token", password: true };
      return json({ inputs: [input], servers: server("Bearer ${input:cairn-token}") });
    },
  },
};

const names = Object.keys(clients).join("|");
const usage = `usage: ${calledAs("mcp")} --client ${names} [--url URL] [--inline [--token TOKEN]]
  --client  the program that gets Cairn
  --url     the address of Cairn; default: CAIRN_URL
  --inline  prints the token itself, for a program that does not see the environment: that of --token, or of CAIRN_TOKEN

It prints, and changes nothing. The token is one of a user: ${calledAs("token")} --user ID --scope read,write --ttl 90d`;

/** A word of a shell. */
const shell = (word: string): string =>
  /^[\w.:/%~-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

function addressOf(url: string): string {
  const given = URL.canParse(url) ? new URL(url) : null;
  if (given === null || !/^https?:$/.test(given.protocol) || given.search !== "" || given.hash !== "")
    refuse(`--url has to be an address such as http://127.0.0.1:8787, not '${url}'.`, usage);
  return `${given.origin}${given.pathname.replace(/\/+$/, "")}/mcp`;
}

const options = optionsOf({ client: { type: "string" }, inline: { type: "boolean" } }, usage);
if (options.help === true) {
  console.log(usage);
  process.exit(0);
}
const { env } = process;
const {
  client: name = "",
  url = env.CAIRN_URL ?? "",
  token = env.CAIRN_TOKEN ?? "",
  inline = false,
} = options;
const client = Object.hasOwn(clients, name) ? clients[name] : undefined;
if (client === undefined)
  refuse(name === "" ? "Say which --client." : `'${name}' is no client known here.`, usage);
if (url === "") refuse("Set CAIRN_URL, or say --url.", usage);
// A token has no character that means something in a shell, in JSON or in a header.
if (inline && !/^[\w.~+/=-]+$/.test(token))
  refuse("--inline needs a token: set CAIRN_TOKEN, or say --token.", usage);
if (inline && name === "codex")
  refuse("Codex takes no token in its configuration: leave out --inline.", usage);

console.error(`${client.where}:\n`);
console.log(client.text({ url: addressOf(url), token: inline ? token : null }));
if (token === "") console.error(`\nCAIRN_TOKEN is not set: ${calledAs("token")} --user ID mints one.`);
