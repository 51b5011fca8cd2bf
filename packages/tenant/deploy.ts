// The one deployment of wrangler.toml: made, and brought to this version, by the same steps as a tenant.
import type { Account } from "./account.ts";
import { dimensionsOf, type Tenant } from "./config.ts";
import { changed, make, requireSubdomain } from "./create.ts";
import { ONE } from "./names.ts";
import { requireSecret, tellToken } from "./secret.ts";
import { mintToken, scopes } from "#domain/token.ts";
import { Stopped } from "./stopped.ts";
import { accountOf, type Desk, requireTenant, tellKept } from "./tenants.ts";

/** The options of the command line. An absent option is as it was, or as in wrangler.toml. */
export type DeployOptions = {
  /** The hint for where a database is made. */
  location?: string;
  model?: string;
  /** False: takes the index away from the configuration. */
  vectorize?: boolean;
  cpuMs?: number;
  account?: string;
  /** Take over what the account has under these names. */
  adopt: boolean;
  /** Print a token of a deployment that is there already, too. */
  token: boolean;
};

/** Deploys. Run again, it changes nothing that is there; a run that was stopped anywhere goes on. */
export async function deploy(desk: Desk, options: DeployOptions): Promise<void> {
  const stored = requireTenant(desk, ONE);
  const { vectorize, location, token, adopt, ...others } = options;
  const tenant = {
    ...changed(stored, { name: ONE, vectorize: vectorize === true, adopt, ...others }),
    ...(vectorize === false && { index: null }),
    // Their ids are of a database that is not there.
    ...(adopt && { databases: new Map<string, string>() }),
  };
  dimensionsOf(tenant);
  requireSecret(desk, ONE);
  tellKept(desk, tenant);
  await requireSubdomain(desk, tenant);
  if (!adopt) await requireOurs(desk, tenant);
  const { url, secret, old } = await make(desk, tenant, location);
  // Without a secret, its health says so, and nothing else.
  const hasSecret = old || secret !== null;
  const at = hasSecret ? await tellHealth(desk, tenant, url) : null;
  if (at !== null && secret !== null && !old) await requireAccepted(desk, { at, secret });
  await tellToken(desk, tenant, { secret, old, asked: token });
}

/**
 * Refuses what has these names and is another's. A stopped run may have left a database that is empty, or one with Cairn's
 * tables; a Worker comes after its database.
 */
async function requireOurs(desk: Desk, { worker, database, databases }: Tenant): Promise<void> {
  const account = accountOf(desk, ONE);
  const found = (await account.databases()).find(({ name }) => name === database);
  // The deploy button makes both, empty, and writes the id into wrangler.toml.
  if (found !== undefined && found.uuid === databases.get("DB")) return;
  if (found !== undefined) {
    const tables = await account.tablesOf("DB");
    if (OURS.every((table) => tables.includes(table))) return;
    if (tables.length === 0) return requireNoWorker(account, worker, `an empty D1 database '${database}'`);
    throw new Stopped(
      `The account has a D1 database '${database}' with tables of something else (${tables.slice(0, 3).join(", ")}). Nothing was changed. ` +
        "Give Cairn's another database_name in wrangler.toml.",
      1,
    );
  }
  await requireNoWorker(account, worker, `no D1 database '${database}'`);
}

/** Tables of Cairn's. Another program may well have one of these names. */
const OURS = ["deployment", "memories"];

async function requireNoWorker(account: Account, worker: string, database: string): Promise<void> {
  if ((await account.hasSecret(worker)) === null) return;
  throw new Stopped(
    `The account has a Worker '${worker}', and ${database}: it is something else, or its database was deleted or ` +
      "renamed. Nothing was changed. Give Cairn another name in wrangler.toml; or restore the database; or replace that Worker with --adopt.",
    1,
  );
}

const ANSWERS_WITHIN_MS = 90_000;
const ASK_AGAIN_MS = 3_000;

/** Sees that the Worker has the secret of this run: of two at once on two machines, the later one's counts. */
async function requireAccepted(desk: Desk, { at, secret }: { at: string; secret: string }): Promise<void> {
  const token = await mintToken(secret, { user: "*", scope: scopes }, Date.now());
  if (await desk.accepts(at, token)) return;
  throw new Stopped(
    `The Worker at ${at} refuses a token of the secret that this run gave it: another run, on another machine, gave it another one ` +
      `meanwhile. Take the secret from there in place of ${desk.files.secretPathOf(ONE)}.`,
    1,
  );
}

/** Shows the health of what was deployed. A new address of workers.dev answers after some seconds, and not everywhere at once. */
async function tellHealth(
  { health, say, wait }: Desk,
  tenant: Tenant,
  url: string | undefined,
): Promise<string | null> {
  const at = url?.startsWith("https://") === true || url?.startsWith("http://") === true ? url : null;
  if (at === null) {
    say(`${tenant.worker} is deployed. GET /health at its route says what is live there.`);
    return null;
  }
  let last = "";
  for (let waited = 0; waited <= ANSWERS_WITHIN_MS; waited += ASK_AGAIN_MS) {
    if (waited > 0) await wait(ASK_AGAIN_MS);
    const answer = await health(at).catch((error: unknown) => ({ status: 0, body: reasonOf(error) }));
    last = `${answer.status === 0 ? "" : `${answer.status} `}${answer.body.slice(0, 500)}`;
    // A page of the platform's is no answer of Cairn's.
    if (isHealth(answer.body) && answer.status === 200) {
      say(`\n${tenant.worker} is up at ${at}\n${at}/health: ${answer.body}`);
      return at;
    }
  }
  throw new Stopped(
    `${tenant.worker} is deployed at ${at}, and its /health does not answer as it should, for ${ANSWERS_WITHIN_MS / 1000} s now: ${last}\n` +
      `Ask it again: curl ${at}/health. Its logs: npx wrangler tail ${tenant.worker}`,
    1,
  );
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
};

function isHealth(body: string): boolean {
  try {
    const json: unknown = JSON.parse(body);
    return typeof json === "object" && json !== null && "status" in json;
  } catch {
    return false;
  }
}
