import { defaultModel, staticModel } from "#platform/embeddings/models.ts";
import type { Jurisdiction } from "#platform/jurisdiction.ts";
import { merged } from "./additions.ts";
import { dimensionsOf, isInWorker, type Tenant } from "./config.ts";
import { bindingsOf, databaseOf, workerOf } from "./names.ts";
import { ensureDatabases, ensureIndex, migrate } from "./resources.ts";
import { requireSecret, secretOf, tellToken } from "./secret.ts";
import { Stopped } from "./stopped.ts";
import { accountOf, type Desk, storedTenant } from "./tenants.ts";

/** The options of the command line. An absent option is as in the tenant's file, or the default. */
export type CreateOptions = {
  name: string;
  jurisdiction?: Jurisdiction;
  shards?: number;
  model?: string;
  vectorize: boolean;
  account?: string;
  cpuMs?: number;
  /** Take over what the account has of this name without a file of it. */
  adopt: boolean;
  /** Print a token of a tenant that is there already, too. */
  token?: boolean;
};

/** Makes what is missing of a tenant, in the order that a run which stops anywhere can be gone on with by another. */
export async function create(desk: Desk, options: CreateOptions): Promise<void> {
  const stored = storedTenant(desk, options.name);
  const tenant = stored === null ? fresh(options) : changed(stored, options);
  dimensionsOf(tenant);
  requireSecret(desk, options.name);
  if (stored === null && !options.adopt) await requireUnused(desk, tenant);
  await requireSubdomain(desk, tenant);
  const { url, secret, old } = await make(desk, tenant);
  tellPlace(desk, tenant, url);
  await tellToken(desk, tenant, { secret, old, asked: options.token === true });
}

/** Makes what is missing, and deploys the Worker, with a secret unless it has one. */
export async function make(
  desk: Desk,
  tenant: Tenant,
  location?: string,
): Promise<{ url: string | undefined; secret: string | null; old: boolean }> {
  const complete = await ensureDatabases(desk, tenant, location);
  await ensureIndex(desk, complete);
  await migrate(desk, complete);
  const { secret, old } = await secretOf(desk, complete);
  const [url] = await accountOf(desk, tenant.name).deploy(old ? null : secret);
  desk.say(`Worker ${tenant.worker} deployed${old || secret === null ? "" : ", with its secret"}`);
  return { url, secret, old };
}

function fresh({ name, jurisdiction, shards, model, vectorize, account, cpuMs }: CreateOptions): Tenant {
  return {
    name,
    worker: workerOf(name),
    database: workerOf(name),
    jurisdiction: jurisdiction ?? null,
    shards: shards ?? 1,
    // Workers AI computes anywhere; the model in the Worker embeds messages in their object, which is held to the jurisdiction.
    model: model ?? (jurisdiction === undefined ? defaultModel.name : staticModel.name),
    index: vectorize ? workerOf(name) : null,
    databases: new Map(),
    vars: {},
    more: {
      ...(account !== undefined && { account_id: account }),
      ...(cpuMs !== undefined && { limits: { cpu_ms: cpuMs } }),
    },
  };
}

/** The tenant as it is, with what can still be changed of it. */
export function changed(stored: Tenant, options: CreateOptions): Tenant {
  const { jurisdiction, shards } = options;
  if (jurisdiction !== undefined && jurisdiction !== stored.jurisdiction)
    throw new Stopped(
      `The tenant ${stored.name} is in ${stored.jurisdiction ?? "no jurisdiction"}, and stays there: its objects would be others ` +
        "elsewhere, and empty. Create another tenant, and move the users there.",
    );
  if (shards !== undefined && shards !== stored.shards)
    throw new Stopped(
      `The tenant ${stored.name} has ${stored.shards} shard(s), and keeps them: users would be looked for in others. Create another ` +
        "tenant, and move the users there.",
    );
  const { more } = fresh(options);
  const { account_id: account } = stored.more;
  if (options.account !== undefined && typeof account === "string" && account !== options.account)
    throw new Stopped(
      `The databases of ${stored.worker} are in the account ${account}, which its file names, and stay there. Nothing was changed.`,
    );
  return {
    ...stored,
    model: options.model ?? stored.model,
    index: stored.index ?? (options.vectorize ? stored.worker : null),
    more: merged(stored.more, more),
  };
}

/** Refuses an account in which the deployment would fail at its end, after the databases are there. */
export async function requireSubdomain({ wrangler, say }: Desk, { more }: Tenant): Promise<void> {
  // A Worker with routes is not on workers.dev unless its settings say so.
  const routed = more.routes !== undefined || more.route !== undefined;
  if (more.workers_dev === false || (routed && more.workers_dev !== true)) return;
  const { account_id: account } = more;
  const subdomain = await wrangler.subdomain(typeof account === "string" ? account : undefined);
  if (subdomain.is === "missing")
    throw new Stopped(
      "The account has no workers.dev subdomain, under which a Worker without routes of its own is deployed. Register it, once for the " +
        `account, at https://dash.cloudflare.com/${subdomain.account}/workers/onboarding, and run this again. This run made nothing.`,
      1,
    );
  if (subdomain.is === "unknown")
    say(
      `Note: whether the account has a workers.dev subdomain is not known (${subdomain.reason}). Without one, the deployment fails.`,
    );
}

/** Refuses to take for its own what another machine, or somebody else, made under these names. */
async function requireUnused(desk: Desk, tenant: Tenant): Promise<void> {
  const account = accountOf(desk, tenant.name);
  const names = new Set(bindingsOf(tenant.shards).map((binding) => databaseOf(tenant.database, binding)));
  const used = (await account.databases())
    .filter(({ name }) => names.has(name))
    .map(({ name }) => `D1 ${name}`);
  if (tenant.index !== null && (await account.indexes()).some(({ name }) => name === tenant.index))
    used.push(`Vectorize ${tenant.index}`);
  if ((await account.hasSecret(tenant.worker)) !== null) used.push(`Worker ${tenant.worker}`);
  if (used.length === 0) return;
  throw new Stopped(
    `The account has already: ${used.join(", ")}; and there is no ${desk.files.pathOf(tenant.name)}. If that is this tenant, bring ` +
      "its file here, or take all over with --adopt (with the same --jurisdiction and --shards); if not, take another name.",
  );
}

function tellPlace(
  { say }: Desk,
  { name, jurisdiction, index, model }: Tenant,
  url: string | undefined,
): void {
  const anywhere = [...(index === null ? [] : ["Vectorize"]), ...(isInWorker(model) ? [] : [model])];
  if (jurisdiction !== null)
    say(
      `Note: D1 and the objects are held to '${jurisdiction}'. Not held to it: ${["the Worker", ...anywhere].join(", ")}. The Worker ` +
        "runs where a call comes in, and embeds memories and queries there if it has the model; Regional Services hold it " +
        "(docs/guides/tenants.md).",
    );
  say(`\n${name} is up${url === undefined ? "" : ` at ${url}: GET /health says what is live there`}.`);
}
