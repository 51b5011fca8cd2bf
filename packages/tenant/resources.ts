// The steps of create and upgrade. Each looks at what exists and adds what is missing, so that a run that was
// stopped anywhere is simply run again.
import type { Account } from "./account.ts";
import { dimensionsOf, type Tenant } from "./config.ts";
import { bindingsOf, databaseOf } from "./names.ts";
import { Stopped } from "./stopped.ts";
import { accountOf, configOf, type Desk, storeTenant } from "./tenants.ts";

/** The metadata that recall filters by (docs/internals/vectorize.md). */
export const METADATA = ["user", "kind", "scope", "model"];

/** Makes the databases that are missing. It notes the tenant once the account is known to be its own, and the id of each as soon as it is there. It answers the tenant with all ids. */
export async function ensureDatabases(desk: Desk, tenant: Tenant, location?: string): Promise<Tenant> {
  const account = accountOf(desk, tenant.name);
  const bindings = bindingsOf(tenant.shards);
  const databases = new Map(tenant.databases);
  const there = await account.databases();
  const foundOf = (binding: string) =>
    there.find(({ name }) => name === databaseOf(tenant.database, binding));
  for (const binding of bindings) {
    const name = databaseOf(tenant.database, binding);
    const found = foundOf(binding);
    const id = tenant.databases.get(binding);
    if (id !== undefined && found?.uuid !== id)
      throw new Stopped(
        `${configOf(desk.files, tenant.name)} has ${id} as the database ${name}, and the account has ` +
          `${found === undefined ? "none of that name" : found.uuid}. Nothing is made in its place: what was stored would seem ` +
          "lost. Log in to the right account, or restore that database.",
        1,
      );
    requireJurisdiction(name, { has: found?.jurisdiction, wanted: tenant.jurisdiction });
  }
  // Before anything is made: from here on the file says that what has these names is this tenant's.
  storeTenant(desk, tenant);
  for (const binding of bindings) {
    const name = databaseOf(tenant.database, binding);
    const found = foundOf(binding);
    let made = found?.uuid;
    if (found === undefined) made = await createDatabase(desk, tenant, { name, location });
    else if (location !== undefined)
      desk.say(
        `Note: the database ${name} is there already, and never moves: --location changes nothing of it.`,
      );
    // A dry run makes none.
    if (made === undefined) continue;
    databases.set(binding, made);
    storeTenant(desk, { ...tenant, databases });
  }
  return { ...tenant, databases };
}

/** Makes a database, or takes that of another run which made it meanwhile; undefined in a dry run. */
async function createDatabase(
  desk: Desk,
  { name: tenant, jurisdiction }: Tenant,
  { name, location }: { name: string; location: string | undefined },
): Promise<string | undefined> {
  const account = accountOf(desk, tenant);
  const listed = async () => (await account.databases()).find((database) => database.name === name)?.uuid;
  let id: string | null;
  try {
    id = await account.createDatabase(name, { jurisdiction, location });
  } catch (error) {
    // A failure does not say that it is not there: its answer may be lost, or two runs go at once.
    const there = error instanceof Stopped ? await listed().catch(() => undefined) : undefined;
    if (there === undefined) throw error;
    desk.say(`D1 database ${name} is there`);
    return there;
  }
  desk.say(`D1 database ${name} made`);
  return id ?? listed();
}

/** Compares the jurisdiction that the account reports for a database, if it does. */
function requireJurisdiction(
  name: string,
  { has, wanted }: { has: string | null | undefined; wanted: string | null },
): void {
  if (has === undefined || has === wanted) return;
  throw new Stopped(
    `The database ${name} is in ${has ?? "no jurisdiction"}, and the tenant in ${wanted ?? "none"}.`,
    1,
  );
}

/**
 * Makes the Vectorize index and its metadata indexes, before the Worker is there that writes to it: a metadata index holds
 * the vectors that are written after it, and a vector that is in none is not found by any search of Cairn's.
 */
export async function ensureIndex(desk: Desk, tenant: Tenant): Promise<void> {
  const { index } = tenant;
  if (index === null) return;
  const account = accountOf(desk, tenant.name);
  const dimensions = dimensionsOf(tenant);
  const found = (await account.indexes()).find(({ name }) => name === index);
  if (found === undefined) {
    await account.createIndex(index, dimensions);
    desk.say(`Vectorize index ${index} of ${dimensions} dimensions made`);
  } else if (found.config.dimensions !== dimensions)
    throw new Stopped(
      `The Vectorize index ${index} has ${found.config.dimensions} dimensions, and ${tenant.model} makes ${dimensions}. ` +
        `Name another index_name in ${desk.files.pathOf(tenant.name)}, and run this again: it is made then, and filled.`,
      1,
    );
  await ensureMetadataIndexes(desk, account, index);
}

/** A metadata index appears in the list up to 90 s after it was asked for. */
const SHOWS_WITHIN_MS = 180_000;
const LOOK_AGAIN_MS = 5_000;
/** Errors of Vectorize for an index that it creates all the same, or that does not appear yet. */
const MAY_BE_MADE = /\b50[234]\b|time[ds]? ?-?out|already exists/i;

async function ensureMetadataIndexes(desk: Desk, account: Account, index: string): Promise<void> {
  const there = await account.metadataIndexes(index);
  const missing = METADATA.filter((property) => !there.includes(property));
  const failures = new Map<string, Stopped>();
  for (const property of missing) {
    try {
      await account.createMetadataIndex(index, property);
    } catch (error) {
      if (!(error instanceof Stopped) || !MAY_BE_MADE.test(error.message)) throw error;
      failures.set(property, error);
    }
    desk.say(`Vectorize metadata index ${property} asked for`);
  }
  if (missing.length > 0) await waitForMetadataIndexes(desk, account, { index, failures });
}

/** A vector that is written before its metadata index is there is not found by it: the Worker waits for all of them. */
async function waitForMetadataIndexes(
  { say, wait }: Desk,
  account: Account,
  { index, failures }: { index: string; failures: ReadonlyMap<string, Stopped> },
): Promise<void> {
  for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
    const there = await account.metadataIndexes(index);
    const [hidden, ...others] = METADATA.filter((property) => !there.includes(property));
    if (hidden === undefined) return say(`Vectorize metadata indexes of ${index} are there`);
    if (waited >= SHOWS_WITHIN_MS)
      throw (
        failures.get(hidden) ??
        new Stopped(
          `Vectorize has accepted the metadata indexes ${[hidden, ...others].join(", ")} of ${index}, and does not list them after ` +
            `${SHOWS_WITHIN_MS / 60_000} minutes. Nothing was deployed. Run this again: it goes on from here.`,
          1,
        )
      );
    await wait(LOOK_AGAIN_MS);
  }
}

/** Applies the migrations to every database, and sees that none was used as another than it is to be. */
export async function migrate(desk: Desk, tenant: Tenant): Promise<void> {
  const account = accountOf(desk, tenant.name);
  for (const binding of bindingsOf(tenant.shards)) await account.applyMigrations(binding);
  desk.say("migrations applied");
  const mark = await account.markOf("DB");
  if (mark === null) return;
  const { shards, jurisdiction } = mark;
  if (shards !== tenant.shards || jurisdiction !== (tenant.jurisdiction ?? ""))
    throw new Stopped(
      `This tenant has ${shards} shard(s) and ${jurisdiction || "no jurisdiction"}: its data are stored so. ` +
        `${desk.files.pathOf(tenant.name)} says ${tenant.shards} and ${tenant.jurisdiction ?? "none"}; set it back, or create another ` +
        "tenant and move the users there. Nothing was deployed.",
    );
}
