// `npm run doctor -- --url URL [--token TOKEN]`: asks a deployment about what operators get wrong, and says what to do.
import { optionsOf, refuse } from "./transfer/cairn.ts";
import { calledAs } from "./transfer/called-as.ts";

const usage = `usage: ${calledAs("doctor")} --url URL [--token TOKEN] [--json]
  --url    the address of Cairn; default: CAIRN_URL
  --token  of '*' with the scope admin: asks what needs one, too; default: CAIRN_TOKEN
  --json   prints the findings as JSON

Exits with 0 if all is well, 1 if there is something to do, 2 if no Cairn answers. It changes nothing.`;

/** `todo`: what to do about it, or null if it is as it should be. */
type Finding = { check: string; found: string; todo: string | null };
type Answer = { status: number; headers: Headers; text: string };

const WITHIN_MS = 15_000;
/** A token that is minted here may be younger than the deployment's clock by so much. */
const CLOCK_MS = 30_000;
/** The cron rings each hour; a rebuild that has not ended by then has met none. */
const CRON_MS = 3 * 60 * 60_000;

/** Advice on the problems of /health that do not say themselves what to do. */
const ADVICE: readonly [RegExp, string][] = [
  [
    /^CAIRN_SECRET is not/,
    "Make one, keep its file, and set it: openssl rand -base64 48 > cairn.secret && npx wrangler secret put CAIRN_SECRET --name WORKER < cairn.secret",
  ],
  [
    /^D1 does not answer/,
    "Look at www.cloudflarestatus.com, and ask again. Entries and messages work meanwhile.",
  ],
];
const OTHER = "Do what it says, or correct the setting: docs/reference/settings.md.";

const adviceOn = (problem: string): string => ADVICE.find(([of]) => of.test(problem))?.[1] ?? OTHER;

class NoCairn extends Error {}

async function get(url: string, token?: string): Promise<Answer> {
  try {
    const answer = await fetch(url, {
      signal: AbortSignal.timeout(WITHIN_MS),
      ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new NoCairn(`No answer from ${url}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

type Health = {
  status: string;
  problems?: string[];
  embedder: { model: string };
  languageModel: string | null;
  vectorIndex: string;
};

function healthIn({ status, text }: Answer, url: string): Health {
  try {
    const health = JSON.parse(text) as Partial<Health>;
    if (typeof health.status === "string" && health.embedder !== undefined) return health as Health;
  } catch {
    // No JSON: another program.
  }
  throw new NoCairn(`${url} answers, but not as a Cairn does: ${status} ${text.slice(0, 200)}`);
}

/** Findings of what everybody may ask. */
async function openFindings(url: string): Promise<Finding[]> {
  const asked = await get(`${url}/health`);
  const health = healthIn(asked, url);
  const findings: Finding[] = [
    { check: "health", found: health.status, todo: null },
    ...(health.problems ?? []).map((found) => ({ check: "health", found, todo: adviceOn(found) })),
    {
      check: "embedder",
      found: `${health.embedder.model}, vectors in the ${health.vectorIndex}`,
      todo: null,
    },
    {
      check: "language model",
      found: health.languageModel ?? "none: an ingest extracts by patterns alone (docs/reference/ingest.md)",
      todo: null,
    },
    clockFinding(asked.headers.get("Date")),
  ];
  if (!/^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/]?/.test(url))
    findings.push({
      check: "address",
      found: "not https",
      todo: "Use https: a token is readable on the way.",
    });
  for (const [check, path] of [
    ["console", "/console"],
    ["API reference", "/docs"],
  ] as const) {
    const { status } = await get(`${url}${path}`);
    const isServed = status < 400;
    findings.push({
      check,
      found: isServed ? `served at ${path}` : `${path} is ${status}`,
      todo:
        isServed || (check === "console" && status === 404)
          ? null
          : "Deploy again: the assets are incomplete.",
    });
  }
  return findings;
}

function clockFinding(date: string | null): Finding {
  const off = date === null ? 0 : Date.parse(date) - Date.now();
  const isFine = Math.abs(off) <= CLOCK_MS;
  return {
    check: "clock",
    found: isFine
      ? "as here"
      : `${Math.round(Math.abs(off) / 1_000)} s ${off > 0 ? "ahead of" : "behind"} the one here`,
    todo: isFine ? null : "Set this machine's clock: tokens minted here begin and end at the wrong time.",
  };
}

/** Findings of what an administrator may ask. */
async function adminFindings(url: string, token: string): Promise<Finding[]> {
  const { status, text } = await get(`${url}/v1/reindex`, token);
  if (status === 401)
    return [
      {
        check: "token",
        found: "refused",
        todo: `It has expired, or is not signed with this deployment's secret. Mint one with that: CAIRN_SECRET=… ${calledAs("token")} --user '*' --scope read,admin`,
      },
    ];
  if (status === 403)
    return [{ check: "token", found: "taken", todo: "To ask more, mint one of '*' with the scope admin." }];
  if (status !== 200)
    return [
      { check: "token", found: `GET /v1/reindex is ${status}: ${text.slice(0, 300)}`, todo: adviceOn(text) },
    ];
  const { status: state, startedAt = 0 } = JSON.parse(text) as { status: string; startedAt?: number };
  const waits = state === "running" && Date.now() - startedAt > CRON_MS;
  return [
    { check: "token", found: "taken", todo: null },
    {
      check: "cron",
      found: waits
        ? "a rebuild of the users' indexes has not ended for hours"
        : `rebuild of the indexes: ${state}`,
      todo: waits
        ? "See that the Worker has its cron trigger, and read its log (docs/guides/operate.md)."
        : null,
    },
  ];
}

async function findingsOf(url: string, token: string | undefined): Promise<Finding[]> {
  const open = await openFindings(url);
  return token === undefined || token === "" ? open : [...open, ...(await adminFindings(url, token))];
}

const given = optionsOf({ json: { type: "boolean" } }, usage);
const {
  url = process.env.CAIRN_URL ?? "",
  token = process.env.CAIRN_TOKEN,
  json = false,
  help = false,
} = given;
if (help) console.log(usage);
else {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    refuse(url === "" ? "--url, or CAIRN_URL, is required." : `--url: '${url}' is not a URL.`, usage);
  try {
    const findings = await findingsOf(url.replace(/\/+$/, ""), token);
    const todo = findings.filter((one) => one.todo !== null);
    if (json) console.log(JSON.stringify({ healthy: todo.length === 0, findings }, null, 2));
    else {
      for (const { check, found, todo: advice } of findings)
        console.log(
          `${advice === null ? "ok  " : "FIX "}  ${check}: ${found}${advice === null ? "" : `\n      ${advice}`}`,
        );
      if (token === undefined) console.log("      Without a token, only what everybody may ask was asked.");
    }
    process.exitCode = todo.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof NoCairn)) throw error;
    if (json) console.log(JSON.stringify({ healthy: false, problem: error.message }, null, 2));
    else console.error(error.message);
    process.exitCode = 2;
  }
}
