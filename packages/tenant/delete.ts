import { bindingsOf, databaseOf } from "./names.ts";
import { Stopped } from "./stopped.ts";
import { accountOf, requireTenant, type Desk, storeTenant } from "./tenants.ts";

/**
 * Deletes a tenant with everything in it. The Worker goes first, with its objects, so that nothing is written any more;
 * the tenant's file last, as a delete that was stopped goes on by it.
 */
export async function deleteTenant(
  desk: Desk,
  name: string,
  /** Asks for the name to be typed; answers what was. */
  typed: (question: string) => Promise<string>,
): Promise<void> {
  const tenant = requireTenant(desk, name);
  const question = `This deletes ${tenant.worker}: its Worker, all its users' memories, threads and entries, and its databases. There is no way back.\nType the tenant's name to go on: `;
  if ((await typed(question)) !== name) throw new Stopped("Nothing was deleted: that is not its name.");
  const account = accountOf(desk, name);
  const there = await account.databases();
  const hasWorker = (await account.hasSecret(tenant.worker)) !== null;
  const ids = new Set(tenant.databases.values());
  if (ids.size > 0 && !hasWorker && !there.some(({ uuid }) => ids.has(uuid)))
    throw new Stopped(
      `Nothing was deleted: the account that you are logged in to has neither ${tenant.worker} nor any of the databases that ` +
        `${desk.files.pathOf(name)} names. Log in to the right one; or, if somebody deleted all of it by hand, remove ` +
        `${desk.files.pathOf(name)} and ${desk.files.secretPathOf(name)} by hand too.`,
      1,
    );
  if (hasWorker) {
    await account.deleteWorker(tenant.worker);
    desk.say(`Worker ${tenant.worker} deleted, with its objects`);
  }
  if (tenant.index !== null && (await account.indexes()).some((index) => index.name === tenant.index)) {
    await account.deleteIndex(tenant.index);
    desk.say(`Vectorize index ${tenant.index} deleted`);
  }
  const left = new Map(tenant.databases);
  for (const binding of bindingsOf(tenant.shards)) {
    const database = there.find((one) => one.name === databaseOf(tenant.database, binding));
    const id = tenant.databases.get(binding);
    // One of the same name that this tenant never had is another's.
    if (database === undefined || (id !== undefined && id !== database.uuid)) continue;
    // Before it is gone: if the answer is lost, the next run must not take this account for a wrong one.
    left.delete(binding);
    storeTenant({ ...desk, say: () => {} }, { ...tenant, databases: left });
    await account.deleteDatabase(database.name);
    desk.say(`D1 database ${database.name} deleted`);
  }
  desk.files.remove(name);
  desk.say(`${desk.files.pathOf(name)} and its secret deleted`);
}
