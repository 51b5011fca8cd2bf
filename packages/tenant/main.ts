// `npm run tenant`: makes, upgrades and deletes deployments of Cairn, one a tenant. docs/guides/tenants.md tells all of it.
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { isJurisdiction, jurisdictions } from "#platform/jurisdiction.ts";
import { create, type CreateOptions } from "./create.ts";
import { deleteTenant } from "./delete.ts";
import { ending, requireArrived, MOST_CPU_MS, requireAccount, wholeOf } from "./command-line.ts";
import { deskOf } from "./desk.ts";
import { dryRun } from "./dry-run.ts";
import { list } from "./list.ts";
import { requireName } from "./names.ts";
import { Stopped } from "./stopped.ts";
import type { Desk } from "./tenants.ts";
import { upgrade } from "./upgrade.ts";

const usage = `usage: npm run tenant -- create NAME [options]   makes what is missing of a tenant; run again, it goes on
       npm run tenant -- list                    the tenants that have a file in tenants/
       npm run tenant -- upgrade NAME... | --all migrations, then code, one tenant after another
       npm run tenant -- delete NAME             everything of it; asks for the name (--yes NAME does not)

create:
  --jurisdiction ${jurisdictions.join("|")}   where D1 and the objects are held to; for good
  --shards N         D1 databases that users are spread over, 1 to 100 (10 GB each); for good
  --model NAME       what embeds: @cf/baai/bge-base-en-v1.5 unless set; static2-en-256 and mini-en-256 are in the Worker
  --vectorize        keeps vectors in a Vectorize index as well
  --account ID       of several Cloudflare accounts, this one
  --cpu-ms N         the most CPU time of a call (paid plan only)
  --adopt            takes over what the account has under this name
  --token            prints a token of all users, of a tenant that is there already too
  --dry-run          shows the file as it would become and the commands, and does nothing; needs no account
CAIRN_SECRET, if set, becomes the tenant's secret; else one is made in tenants/NAME.secret.`;

const MOST_SHARDS = 100;

function commandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        jurisdiction: { type: "string" },
        shards: { type: "string" },
        model: { type: "string" },
        vectorize: { type: "boolean" },
        account: { type: "string" },
        "cpu-ms": { type: "string" },
        adopt: { type: "boolean" },
        token: { type: "boolean" },
        "dry-run": { type: "boolean" },
        all: { type: "boolean" },
        yes: { type: "string" },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new Stopped(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}

type Options = ReturnType<typeof commandLine>["values"];

/** The options of each command: an ignored option would be taken for done. */
const TAKES: Record<string, readonly (keyof Options)[]> = {
  create: ["jurisdiction", "shards", "model", "vectorize", "account", "cpu-ms", "adopt", "token", "dry-run"],
  list: [],
  upgrade: ["all"],
  delete: ["yes"],
};

async function main(): Promise<void> {
  const { values: options, positionals } = commandLine();
  const [command = "", ...names] = positionals;
  if (options.help === true) return console.log(usage);
  const takes = TAKES[command];
  if (takes === undefined)
    throw new Stopped(`${command === "" ? "Do what?" : `'${command}' is no command.`}\n\n${usage}`);
  requireArrived(takes, options);
  const stray = Object.keys(options).find((option) => !(takes as readonly string[]).includes(option));
  if (stray !== undefined) throw new Stopped(`--${stray} does not go with ${command}.\n\n${usage}`);
  if (command === "list" && names.length > 0)
    throw new Stopped(`list takes no name, it shows all tenants: '${names.join(" ")}'.`);
  if (names.length > 1 && command !== "upgrade")
    throw new Stopped(`Name one tenant, not '${names.join(" ")}'.`);
  const desk = deskOf({ account: options.account, tenants: true });
  if (command === "list") return list(desk);
  if (command === "upgrade") return upgrade(desk, upgraded(desk, names, options.all === true));
  const name = requireName(names[0]);
  if (command === "delete")
    return deleteTenant(desk, name, options.yes === undefined ? ask : async () => options.yes ?? "");
  const given = createOptionsOf(name, options);
  if (options["dry-run"] !== true) return create(desk, given);
  return dryRun(desk, { name, command: `npm run tenant -- create ${name}` }, (dry) => create(dry, given));
}

function upgraded({ files }: Desk, names: readonly string[], all: boolean): readonly string[] {
  if (all !== (names.length === 0)) throw new Stopped(`Which tenants? Their names, or --all.`);
  return all ? files.names() : names.map(requireName);
}

function createOptionsOf(name: string, options: Options): CreateOptions {
  const { jurisdiction, model, account } = options;
  if (jurisdiction !== undefined && !isJurisdiction(jurisdiction))
    throw new Stopped(`--jurisdiction is one of ${jurisdictions.join(", ")}, and not '${jurisdiction}'.`);
  requireAccount(account);
  const shards = wholeOf("--shards", options.shards, MOST_SHARDS);
  const cpuMs = wholeOf("--cpu-ms", options["cpu-ms"], MOST_CPU_MS);
  return {
    name,
    vectorize: options.vectorize === true,
    adopt: options.adopt === true,
    token: options.token === true,
    ...(jurisdiction !== undefined && { jurisdiction }),
    ...(model !== undefined && { model }),
    ...(account !== undefined && { account }),
    ...(shards !== undefined && { shards }),
    ...(cpuMs !== undefined && { cpuMs }),
  };
}

async function ask(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new Stopped("Without a terminal, say so with --yes NAME.");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

await ending(main);
