// `npm run mcp -- --client claude`: prints how a client of MCP gets this Cairn: a command, or a block of its configuration.
import { optionsOf, refuse } from "./transfer/cairn.ts";
import { calledAs } from "./transfer/called-as.ts";

/** The source of the token: a variable of the program's environment, the token itself, or a sign-in in its browser. */
type Auth = "variable" | "sign-in" | { token: string };
type Said = { url: string; auth: Auth };

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** The value of `Authorization`; null where the program signs its user in. */
const authorization = (auth: Auth, variable: string): string | null =>
  auth === "sign-in" ? null : `Bearer ${auth === "variable" ? variable : auth.token}`;

/** The same as a field of a configuration. */
function headers(auth: Auth, variable: string): { headers?: { Authorization: string } } {
  const value = authorization(auth, variable);
  return value === null ? {} : { headers: { Authorization: value } };
}

/** One line or block for each client, and where it belongs. */
const clients: Record<string, { where: string; text: (said: Said) => string }> = {
  claude: {
    where: "Run this command",
    text: ({ url, auth }) => {
      const value = authorization(auth, "$CAIRN_TOKEN");
      const header = value === null ? "" : ` --header "Authorization: ${value}"`;
      return `claude mcp add --transport http --scope user cairn ${shell(url)}${header}`;
    },
  },
  codex: {
    where: "Run this command; Codex reads CAIRN_TOKEN of its environment whenever it starts",
    text: ({ url, auth }) =>
      auth === "sign-in"
        ? `codex mcp add cairn --url ${shell(url)}`
        : `codex mcp add cairn --url ${shell(url)} --bearer-token-env-var CAIRN_TOKEN`,
  },
  cursor: {
    where: "Merge this into ~/.cursor/mcp.json, or into .cursor/mcp.json of a project",
    text: ({ url, auth }) => json({ mcpServers: { cairn: { url, ...headers(auth, "${env:CAIRN_TOKEN}") } } }),
  },
  vscode: {
    where: "Merge this into .vscode/mcp.json",
    text: ({ url, auth }) => {
      const servers = { cairn: { type: "http", url, ...headers(auth, "${input:cairn-token}") } };
      const input = { type: "promptString", id: "cairn-token", description: "Cairn token", password: true };
      return json({ ...(auth === "variable" && { inputs: [input] }), servers });
    },
  },
};

const names = Object.keys(clients).join("|");
const usage = `usage: ${calledAs("mcp")} --client ${names} [--url URL] [--sign-in | --inline [--token TOKEN]]
  --client  the program that gets Cairn
  --url     the address of Cairn; default: CAIRN_URL
  --sign-in leaves the token out: the program opens a page, where its user signs in (docs/reference/sign-in.md)
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

const options = optionsOf(
  { client: { type: "string" }, inline: { type: "boolean" }, "sign-in": { type: "boolean" } },
  usage,
);
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
  "sign-in": signIn = false,
} = options;
const client = Object.hasOwn(clients, name) ? clients[name] : undefined;
if (client === undefined)
  refuse(name === "" ? "Say which --client." : `'${name}' is no client known here.`, usage);
if (url === "") refuse("Set CAIRN_URL, or say --url.", usage);
if (inline && signIn) refuse("--sign-in needs no token: leave out --inline.", usage);
// A token has no character that means something in a shell, in JSON or in a header.
if (inline && !/^[\w.~+/=-]+$/.test(token))
  refuse("--inline needs a token: set CAIRN_TOKEN, or say --token.", usage);
if (inline && name === "codex")
  refuse("Codex takes no token in its configuration: leave out --inline.", usage);

const where = signIn ? client.where.split(";")[0] : client.where;
console.error(`${where}:\n`);
const auth = signIn ? "sign-in" : inline ? { token } : "variable";
console.log(client.text({ url: addressOf(url), auth }));
if (token === "" && !signIn)
  console.error(`\nCAIRN_TOKEN is not set: ${calledAs("token")} --user ID mints one.`);
