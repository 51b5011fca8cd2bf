import type { Tenant } from "./config.ts";
import { ensureDatabases, ensureIndex, migrate } from "./resources.ts";
import { Stopped } from "./stopped.ts";
import { accountOf, type Desk, requireTenant, tellKept } from "./tenants.ts";

/**
 * Brings tenants to this version, one after another: migrations first, then the code that needs them. The first failure
 * ends it, so that what is wrong with one is not done to all.
 */
export async function upgrade(desk: Desk, names: readonly string[]): Promise<void> {
  if (names.length === 0) desk.say("There are no tenants here: nothing to upgrade.");
  // Missing tenants are reported before anything is done.
  for (const name of names) requireTenant(desk, name);
  for (const [i, name] of names.entries()) {
    desk.say(`${name}:`);
    try {
      await upgradeOne(desk, requireTenant(desk, name));
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      const done = names.slice(0, i);
      throw new Stopped(
        `${error.message}\n\nStopped at ${name}. Done: ${done.length === 0 ? "none" : done.join(", ")}. ` +
          `When it is mended, go on with:\nnpm run tenant -- upgrade ${names.slice(i).join(" ")}`,
        1,
      );
    }
  }
}

async function upgradeOne(desk: Desk, tenant: Tenant): Promise<void> {
  requireComplete(desk, tenant);
  tellKept(desk, tenant);
  // All are there; one that is not is told before anything is made.
  await ensureDatabases(desk, tenant);
  await ensureIndex(desk, tenant);
  await migrate(desk, tenant);
  const [url] = await accountOf(desk, tenant.name).deploy(null);
  desk.say(`Worker ${tenant.worker} deployed${url === undefined ? "" : ` at ${url}`}`);
}

function requireComplete({ files }: Desk, { name, shards, databases }: Tenant): void {
  if (databases.size === (shards > 1 ? shards + 1 : 1)) return;
  throw new Stopped(
    `${files.pathOf(name)} lacks the id of a database: its creation was stopped. Go on with: npm run tenant -- create ${name}`,
    1,
  );
}
