// `--dry-run`: the same steps, in an account that is supposed and with files that are not written.
import { dimensionsOf, type Tenant } from "./config.ts";
import { DryFiles } from "./files.ts";
import { bindingsOf, databaseOf } from "./names.ts";
import { METADATA } from "./resources.ts";
import { configOf, type Desk, storedTenant } from "./tenants.ts";
import type { Answer, Secrets, Subdomain, Wrangler } from "./wrangler.ts";

/** Says what a command would run and what the file would become, or stops where it would; nothing is asked or done. */
export async function dryRun(
  desk: Desk,
  { name, command }: { name: string; command: string },
  act: (desk: Desk) => Promise<void>,
): Promise<void> {
  const before = desk.files.read(name);
  const known = storedTenant(desk, name);
  // wrangler.toml alone says nothing of an account.
  const stored = before === null && known?.databases.size === 0 ? null : known;
  const files = new DryFiles(desk.files);
  const commands: string[] = [];
  const wrangler = new DryWrangler(stored === null ? NOTHING : supposed(stored), commands);
  // To its end before anything is said: what is refused is not shown as what would be run.
  await act({ ...desk, files, wrangler, passing: false, say: () => {} });
  const path = files.pathOf(name);
  const has = stored === null ? "nothing of it" : `what ${configOf(desk.files, name)} names`;
  desk.say(`${command} would run, in an account that has ${has}:\n`);
  for (const one of commands) desk.say(one);
  const text = files.read(name);
  if (text === null) return desk.say("\nwrangler.toml is deployed as it is.");
  const becomes =
    stored === null ? "with the ids of the databases once they are there" : "as it would become";
  desk.say(`\n${path}, ${text === before ? "which stays as it is" : becomes}:\n\n${text}`);
}

/** The contents of the account. */
type Supposed = { databases: { uuid: string; name: string }[]; index: Index | null; worker: string | null };
type Index = { name: string; config: { dimensions: number } };

const NOTHING: Supposed = { databases: [], index: null, worker: null };

/** The account, by the tenant's file: the index and the Worker are made after the last database. */
function supposed(stored: Tenant): Supposed {
  const { database, worker, index, databases, shards } = stored;
  const there = [...databases].map(([binding, uuid]) => ({ uuid, name: databaseOf(database, binding) }));
  if (there.length < bindingsOf(shards).length) return { ...NOTHING, databases: there };
  return {
    databases: there,
    index: index === null ? null : { name: index, config: { dimensions: dimensionsOf(stored) } },
    worker,
  };
}

/** Answers for the supposed account, and notes what would be run. */
class DryWrangler implements Wrangler {
  readonly #account: Supposed;
  readonly #commands: string[];
  /** The metadata indexes that would be made. */
  readonly #made: string[] = [];

  constructor(account: Supposed, commands: string[]) {
    this.#account = account;
    this.#commands = commands;
  }

  async ask(args: readonly string[]): Promise<Answer> {
    const { databases, index, worker } = this.#account;
    const [what, verb, name] = args;
    if (what === "secret")
      return worker === null
        ? { ...DONE, ok: false, stderr: `Worker "${args[args.indexOf("--name") + 1]}" not found.` }
        : listAnswer([{ name: "CAIRN_SECRET" }]);
    if (what === "d1" && verb === "execute") return listAnswer([{ results: [] }]);
    if (what === "d1" && verb === "list") return listAnswer(databases);
    if (what === "vectorize" && verb === "list") return listAnswer(index === null ? [] : [index]);
    if (verb === "list-metadata-index")
      return listAnswer(
        (name === index?.name ? METADATA : this.#made).map((propertyName) => ({ propertyName })),
      );
    return listAnswer([]);
  }

  async subdomain(): Promise<Subdomain> {
    return { is: "registered" };
  }

  async run(args: readonly string[], secrets: Secrets | null = null): Promise<Answer> {
    const property = args.find((arg) => arg.startsWith("--property-name="));
    if (property !== undefined) this.#made.push(property.slice(property.indexOf("=") + 1));
    this.#commands.push(
      `npx wrangler ${args.join(" ")}${secrets === null ? "" : " --secrets-file <the secret>"}`,
    );
    return DONE;
  }
}

const DONE: Answer = { ok: true, stdout: "", stderr: "", entries: "" };
const listAnswer = (list: object[]): Answer => ({ ...DONE, stdout: JSON.stringify(list) });
