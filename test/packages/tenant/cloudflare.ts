// An account of Cloudflare as wrangler 4.156 shows it: what it answers, what it refuses, and a step at which it fails.
import { createHash } from "node:crypto";
import { parse } from "smol-toml";
import { z } from "zod";
import type { Answer, Secrets, Subdomain } from "../../../packages/tenant/wrangler.ts";

type Database = {
  uuid: string;
  name: string;
  jurisdiction?: string;
  location?: string;
  migrated: boolean;
  mark: object | null;
  /** Tables of somebody else. */
  tables?: string[];
};
type Index = { dimensions: number; metric: string; metadata: string[] };
/** `database`: the id that is bound as DB. */
type Worker = { secret: string | null; config: string; database?: string };

/** The contents of the account, and each command that reached it. Plain data, so that it can be kept in a file. */
export type Cloudflare = {
  databases: Database[];
  indexes: Record<string, Index>;
  workers: Record<string, Worker>;
  /** The account's name under workers.dev; null before it was registered. */
  subdomain: string | null;
  calls: string[];
  /** The number of times that each thing was made. */
  made: Record<string, number>;
  /** The number of the call that fails, and whether what it asks for is done all the same. */
  fail: { at: number; done: boolean } | null;
  /** The number of lists of metadata indexes without a new one; and those that are not listed yet, with how often still. */
  metadataLag: number;
  unlisted: Record<string, number>;
  /** Each command that has this in it is carried out, and answered with a 504. */
  timesOut: string | null;
  /** Each command that has this in it is refused, with this message of the API. */
  refuses?: { command: string; message: string };
};

export const emptyAccount = (): Cloudflare => ({
  databases: [],
  indexes: {},
  workers: {},
  subdomain: "example",
  calls: [],
  made: {},
  fail: null,
  metadataLag: 0,
  unlisted: {},
  timesOut: null,
});

const Config = z.object({
  name: z.string(),
  vars: z.record(z.string(), z.string()),
  d1_databases: z.array(
    z.object({ binding: z.string(), database_name: z.string(), database_id: z.string().optional() }),
  ),
  vectorize: z.array(z.object({ index_name: z.string() })).default([]),
});
type Config = z.infer<typeof Config>;
export const METADATA = ["user", "kind", "scope", "model"];

/** The commands that wrangler refuses, or fails at. */
class Failed extends Error {}

/** Runs a command of wrangler in the account. `read` answers the text of the configuration. */
export function wrangler(
  account: Cloudflare,
  args: readonly string[],
  { secrets, read }: { secrets: Secrets | null; read: (path: string) => string },
): Answer {
  account.calls.push(args.join(" "));
  const failing = account.fail?.at === account.calls.length ? account.fail : null;
  try {
    if (failing?.done === false) throw new Failed("the network went away");
    const config = configOf(() => read(args[args.indexOf("-c") + 1] ?? ""));
    const { refuses } = account;
    if (refuses !== undefined && args.join(" ").includes(refuses.command))
      throw new Failed(`A request to the Cloudflare API failed.\n  ${refuses.message}`);
    const said = perform(account, args, { secrets, config });
    if (failing !== null) throw new Failed("but it was done");
    if (account.timesOut !== null && args.join(" ").includes(account.timesOut))
      throw new Failed("A request to the Cloudflare API failed.\n  504 Gateway Timeout");
    return { ok: true, stderr: "", entries: "", ...said };
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const message = failing === null ? error.message : "the answer was lost";
    return { ok: false, stdout: "", stderr: `✘ [ERROR] ${message}\n`, entries: "" };
  }
}

type Given = { secrets: Secrets | null; config: Config & { text: string } };

/** Every command reads the configuration that it is given, whether it needs it or not. */
function configOf(read: () => string): Config & { text: string } {
  let text: string;
  try {
    text = read();
  } catch {
    throw new Failed("Could not read file");
  }
  return { text, ...Config.parse(parse(text)) };
}

const ACCOUNT = "0123456789abcdef0123456789abcdef";

/** The API's answer about the account's subdomain. */
export const subdomainOf = ({ subdomain }: Cloudflare): Subdomain =>
  subdomain === null ? { is: "missing", account: ACCOUNT } : { is: "registered" };

function perform(
  account: Cloudflare,
  args: readonly string[],
  given: Given,
): { stdout: string; entries?: string } {
  const [first = "", second = "", third = ""] = args;
  const name = third;
  switch (`${first} ${second}`) {
    case "d1 list":
      return json(
        account.databases.map(({ uuid, name: database }) => ({
          uuid,
          name: database,
          created_at: "2026-11-20T10:00:00.000Z",
          version: "production",
          num_tables: 0,
          file_size: 12_288,
        })),
      );
    case "d1 create":
      return createDatabase(account, name, {
        jurisdiction: valueOf(args, "--jurisdiction"),
        location: valueOf(args, "--location"),
      });
    case "d1 delete":
      databaseOf(account, name);
      account.databases = account.databases.filter((one) => one.name !== name);
      return { stdout: `Deleted '${name}' successfully.\n` };
    case "d1 migrations":
      boundDatabase(account, args[3] ?? "", given.config).migrated = true;
      return { stdout: "🌀 Executing on remote database\n" };
    case "d1 execute": {
      const { migrated, mark, tables = [] } = boundDatabase(account, name, given.config);
      if (args.some((arg) => arg.includes("sqlite_master"))) {
        const all = ["_cf_KV", ...(migrated ? ["d1_migrations", "deployment", "memories"] : []), ...tables];
        return json([{ results: all.map((table) => ({ name: table })), success: true }]);
      }
      if (!migrated) throw new Failed("no such table: deployment: SQLITE_ERROR [code: 7500]");
      return json([{ results: mark === null ? [] : [mark], success: true, meta: { duration: 0.2 } }]);
    }
    case "vectorize list":
      return json(
        Object.entries(account.indexes).map(([index, { dimensions, metric }]) => ({
          created_on: "2026-11-20T10:00:00.000Z",
          modified_on: "2026-11-20T10:00:00.000Z",
          name: index,
          description: "",
          config: { dimensions, metric },
        })),
      );
    case "vectorize create":
      if (account.indexes[name] !== undefined)
        throw new Failed("vectorize.index.duplicate_name [code: 3002]");
      count(account, `index ${name}`);
      account.indexes[name] = {
        dimensions: Number(valueOf(args, "--dimensions")),
        metric: valueOf(args, "--metric") ?? "",
        metadata: [],
      };
      return { stdout: `✅ Successfully created a new Vectorize index: '${name}'\n` };
    case "vectorize delete":
      indexOf(account, name);
      delete account.indexes[name];
      return { stdout: `✅ Deleted Vectorize index ${name}\n` };
    case "vectorize list-metadata-index":
      return json(
        indexOf(account, name)
          .metadata.filter((property) => {
            const still = account.unlisted[property] ?? 0;
            account.unlisted[property] = still - 1;
            return still <= 0;
          })
          .map((propertyName) => ({ propertyName, indexType: "String" })),
      );
    case "vectorize create-metadata-index": {
      const { metadata } = indexOf(account, name);
      const property = valueOf(args, "--property-name") ?? "";
      if (metadata.includes(property)) throw new Failed("metadata index already exists [code: 4011]");
      count(account, `metadata index ${property}`);
      metadata.push(property);
      account.unlisted[property] = account.metadataLag;
      return { stdout: "✅ Successfully enqueued metadata index creation request.\n" };
    }
    case "secret list": {
      const worker = account.workers[valueOf(args, "--name") ?? ""];
      if (worker === undefined) throw new Failed(`Worker "${valueOf(args, "--name")}" not found.`);
      return json(worker.secret === null ? [] : [{ name: "CAIRN_SECRET", type: "secret_text" }]);
    }
    default:
      break;
  }
  if (first === "deploy") return deploy(account, given);
  if (first !== "delete") throw new Error(`the double of wrangler has no command '${args.join(" ")}'`);
  if (account.workers[second] === undefined)
    throw new Failed("This Worker does not exist on your account. [code: 10007]");
  delete account.workers[second];
  return { stdout: `Successfully deleted ${second}\n` };
}

function createDatabase(
  account: Cloudflare,
  name: string,
  { jurisdiction, location }: { jurisdiction: string | undefined; location: string | undefined },
) {
  if (account.databases.some((one) => one.name === name))
    throw new Failed("A database with that name already exists");
  count(account, `database ${name}`);
  const digits = createHash("sha256").update(name).digest("hex");
  const uuid = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4000-8000-${digits.slice(12, 24)}`;
  account.databases.push({
    uuid,
    name,
    ...(jurisdiction !== undefined && { jurisdiction }),
    ...(location !== undefined && { location }),
    migrated: false,
    mark: null,
  });
  const snippet = `[[d1_databases]]\nbinding = "DB"\ndatabase_name = "${name}"\ndatabase_id = "${uuid}"\n`;
  return { stdout: `✅ Successfully created DB '${name}' in region WEUR\n\n${snippet}` };
}

/** Refuses what would lose vectors or fail its calls: what has to be there before the Worker is. */
function deploy(account: Cloudflare, { config, secrets }: Given) {
  for (const { binding } of config.d1_databases)
    if (!boundDatabase(account, binding, config).migrated) throw new Error(`${binding} is not migrated`);
  for (const { index_name: index } of config.vectorize)
    if (METADATA.some((property) => (account.unlisted[property] ?? 0) > 0))
      throw new Error(`the metadata indexes of ${index} are not there yet`);
    else if (indexOf(account, index).metadata.join() !== METADATA.join())
      throw new Error(`${index} has no metadata indexes`);
  const known = account.workers[config.name];
  // A binding without an id inherits that of the Worker.
  const [main] = config.d1_databases;
  const inherited = main?.database_id === undefined ? known?.database : undefined;
  if (inherited !== undefined && !account.databases.some(({ uuid }) => uuid === inherited))
    throw new Failed(`The database ${inherited} could not be found [code: 7404]`);
  if (known === undefined) count(account, `worker ${config.name}`);
  const { CAIRN_SECRET: secret = null } = secrets ?? {};
  if (secret !== null) count(account, "secret");
  account.workers[config.name] = {
    secret: secret ?? known?.secret ?? null,
    config: config.text,
    database: inherited ?? boundDatabase(account, "DB", config).uuid,
  };
  const entry = {
    type: "deploy",
    version: 1,
    worker_name: config.name,
    targets: [`https://${config.name}.example.workers.dev`],
  };
  return {
    stdout: `Uploaded ${config.name} (2.20 sec)\n`,
    entries: `{"type":"wrangler-session","version":1}\n${JSON.stringify(entry)}\n`,
  };
}

const json = (value: unknown) => ({ stdout: `${JSON.stringify(value, null, 2)}\n` });
const count = (account: Cloudflare, what: string) =>
  void (account.made[what] = (account.made[what] ?? 0) + 1);

/** `--name value` and `--name=value`. */
function valueOf(args: readonly string[], option: string): string | undefined {
  const at = args.indexOf(option);
  return at === -1
    ? args.find((arg) => arg.startsWith(`${option}=`))?.slice(option.length + 1)
    : args[at + 1];
}

function databaseOf(account: Cloudflare, name: string): Database {
  const database = account.databases.find((one) => one.name === name);
  if (database === undefined) throw new Failed(`Couldn't find DB with name '${name}'`);
  return database;
}

function boundDatabase(account: Cloudflare, binding: string, config: Config): Database {
  const bound = config.d1_databases.find((one) => one.binding === binding);
  // Without an id, by its name.
  const database = account.databases.find(
    ({ uuid, name }) =>
      uuid === bound?.database_id || (bound?.database_id === undefined && name === bound?.database_name),
  );
  if (database === undefined) throw new Failed(`Couldn't find DB with binding '${binding}'`);
  return database;
}

function indexOf(account: Cloudflare, name: string): Index {
  const index = account.indexes[name];
  if (index === undefined) throw new Failed(`vectorize.index.not_found [code: 3000]`);
  return index;
}
