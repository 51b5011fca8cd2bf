// `npm run token -- --user alice --scope read,write --ttl 1h`: mints a token with the secret of `.dev.vars`, or
// with CAIRN_SECRET if it is set (a deployment's).
import { parseArgs } from "node:util";
import { threadOwner } from "#domain/thread-id.ts";
import { limits } from "#domain/limits.ts";
import { developmentSecret } from "../dev/development-secret.ts";
import {
  LONGEST_LIFE_S,
  SECRET_BYTES,
  isScope,
  isSecret,
  isShared,
  isTrust,
  isUser,
  mintToken,
  scopes,
  USUAL_SCOPES,
  trusts,
} from "#domain/token.ts";
import { calledAs } from "./transfer/called-as.ts";
import { consoleLink } from "../dev/console-link.ts";
import { holderOf, STATE } from "../dev/server-address.ts";

const usage = `usage: ${calledAs("token")} --user ID [--scope ${scopes.join(",")}] [--ttl 1h] [--shared ID,ID] [--thread ID]
             [--trust ${trusts.join("|")}]
       ${calledAs("token")} --link [--user ID] [--scope …] [--url URL]
  --user   whose memory the token opens; '*' opens every user's (for servers)
  --scope  what it may do: ${scopes.join(", ")}; ${USUAL_SCOPES.join(",")} unless set
  --ttl    how long it holds: a number and s, m, h or d; 1h unless set
  --shared shared owners whose memory it reads as well: ids that begin with 'shared:'
  --thread the only thread that it reaches; all of the user's unless set
  --trust  the trust of what it writes; user unless set, operator for '*'

  --link   a link to the console instead, that works once and for ten minutes: as '*' with every scope unless set
  --url    where the link leads; default: CAIRN_URL, then where npm start ran last

Into a variable: export CAIRN_TOKEN=$(${calledAs("token").replace("run", "run --silent")} --user ID)`;

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

function refuse(reason: string): never {
  console.error(`${reason}\n\n${usage}`);
  process.exit(2);
}

function options() {
  try {
    return parseArgs({
      options: {
        user: { type: "string" },
        scope: { type: "string" },
        ttl: { type: "string" },
        shared: { type: "string" },
        thread: { type: "string" },
        trust: { type: "string" },
        link: { type: "boolean" },
        url: { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

const given = options();
const {
  link = false,
  url: linkUrl,
  user = link ? "*" : undefined,
  scope: scopeList = link && user === "*" ? scopes.join() : USUAL_SCOPES.join(","),
  shared: sharedList,
  thread,
  trust,
  help,
} = given;
const { ttl = "1h" } = given;
if (help === true) {
  console.log(usage);
  process.exit(0);
}
if (user === undefined || user === "") refuse("--user is required.");
if (!isUser(user)) refuse("--user is no user id.");
const shared = sharedList?.split(",").filter((id) => id !== "");
const notShared = shared?.find((id) => !isShared(id) || !isUser(id));
if (notShared !== undefined) refuse(`--shared: '${notShared}' is no id of a shared owner.`);
if (shared !== undefined && shared.length > limits.sharedOwners)
  refuse(`--shared takes at most ${limits.sharedOwners} ids.`);
if (thread !== undefined && threadOwner(thread) === null)
  refuse(`--thread: '${thread}' is no id of a thread.`);
const words = scopeList.split(/[ ,]+/).filter((word) => word !== "");
const unknown = words.find((word) => !isScope(word));
if (unknown !== undefined || words.length === 0) refuse(`--scope: '${unknown ?? scopeList}' is no scope.`);
if (trust !== undefined && !isTrust(trust)) refuse(`--trust: '${trust}' is none of ${trusts.join(", ")}.`);
const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(ttl) ?? [];
if (count === undefined || Number(count) === 0)
  refuse(`--ttl: '${ttl}' is no duration: a number and s, m, h or d, as in 90m.`);
const seconds = Number(count) * (SECONDS[unit] ?? 0);
if (seconds >= LONGEST_LIFE_S) refuse(`--ttl: '${ttl}' is longer than a token may hold: 100 years.`);
const secret = process.env.CAIRN_SECRET ?? developmentSecret();
if (!isSecret(secret))
  refuse(`CAIRN_SECRET is ${secret === "" ? "empty" : `shorter than ${SECRET_BYTES} bytes`}.`);

if (link) {
  const aside = Object.entries({ ttl: given.ttl, shared: sharedList, thread, trust }).find(
    ([, value]) => value !== undefined,
  );
  if (aside !== undefined) refuse(`--${aside[0]} does not go with --link.`);
  const url = linkUrl ?? (process.env.CAIRN_URL || holderOf(STATE)?.url);
  if (url === undefined) refuse("--url, or CAIRN_URL, is required: no npm start has run here.");
  if (!URL.canParse(url)) refuse(`--url: '${url}' is not a URL like http://localhost:8787.`);
  console.log(await consoleLink(url, secret, { user, scope: words.filter(isScope) }));
  process.exit(0);
}
if (linkUrl !== undefined) refuse("--url goes with --link.");
const request = { user, scope: words.filter(isScope), ttlMs: seconds * 1000, shared, thread, trust };
console.log(await mintToken(secret, request, Date.now()));
