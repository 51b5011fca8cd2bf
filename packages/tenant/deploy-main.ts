// `npm run deploy`: the one deployment of wrangler.toml. docs/guides/deploy.md tells all of it.
import { parseArgs } from "node:util";
import { ending, requireArrived, MOST_CPU_MS, requireAccount, wholeOf } from "./command-line.ts";
import { deploy, type DeployOptions } from "./deploy.ts";
import { deskOf } from "./desk.ts";
import { dryRun } from "./dry-run.ts";
import { ONE } from "./names.ts";
import { Stopped } from "./stopped.ts";

/** Where Cloudflare places a database, by wrangler's names. */
const locations = ["weur", "eeur", "apac", "oc", "wnam", "enam"];

const usage = `usage: npm run deploy                     deploys wrangler.toml: makes what is missing, then migrations, then code; run again, it goes on
       npm run deploy -- [options]        the options stay, in wrangler.deploy.toml

  --location ${locations.join("|")}   where a new D1 database is made; it never moves
  --model NAME       what embeds: static2-en-256, which is in the Worker, unless set
  --vectorize        keeps vectors in a Vectorize index as well (--no-vectorize: no more)
  --cpu-ms N         the most CPU time of a call (paid plan only)
  --account ID       of several Cloudflare accounts, this one
  --adopt            replaces a Worker of this name whose database is not there
  --token            prints a token of all users, of a deployment that is there already too
  --dry-run          shows the commands, and does nothing; needs no account
CAIRN_SECRET, if set, becomes the secret of a deployment that has none; else one is made in ${ONE}.secret.
Tenants, jurisdictions and several databases: npm run tenant.`;

const OPTIONS = {
  location: { type: "string" },
  model: { type: "string" },
  vectorize: { type: "boolean" },
  account: { type: "string" },
  "cpu-ms": { type: "string" },
  adopt: { type: "boolean" },
  token: { type: "boolean" },
  "dry-run": { type: "boolean" },
  help: { type: "boolean" },
} as const;

function commandLine() {
  try {
    return parseArgs({ allowNegative: true, options: OPTIONS }).values;
  } catch (error) {
    throw new Stopped(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}

function optionsOf(given: ReturnType<typeof commandLine>): DeployOptions {
  const { location, model, vectorize, account } = given;
  if (location !== undefined && !locations.includes(location))
    throw new Stopped(`--location is one of ${locations.join(", ")}, and not '${location}'.`);
  requireAccount(account);
  const cpuMs = wholeOf("--cpu-ms", given["cpu-ms"], MOST_CPU_MS);
  return {
    adopt: given.adopt === true,
    token: given.token === true,
    ...(location !== undefined && { location }),
    ...(model !== undefined && { model }),
    ...(vectorize !== undefined && { vectorize }),
    ...(account !== undefined && { account }),
    ...(cpuMs !== undefined && { cpuMs }),
  };
}

await ending(async () => {
  const given = commandLine();
  if (given.help === true) return console.log(usage);
  requireArrived(Object.keys(OPTIONS), given);
  const options = optionsOf(given);
  const desk = deskOf({ account: options.account, tenants: false });
  if (given["dry-run"] !== true) return deploy(desk, options);
  return dryRun(desk, { name: ONE, command: "npm run deploy" }, (dry) => deploy(dry, options));
});
