import { bindingsOf, databaseOf, workerOf } from "./names.ts";
import { Stopped } from "./stopped.ts";
import { accountOf, demandTenant, type Desk } from "./tenants.ts";

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
  const tenant = demandTenant(desk, name);
  const question = `This deletes ${workerOf(name)}: its Worker, all its users' memories, threads and entries, and its databases. There is no way back.\nType the tenant's name to go on: `;
  if ((await typed(question)) !== name) throw new Stopped("Nothing was deleted: that is not its name.");
  const account = accountOf(desk, name);
  if ((await account.hasSecret(workerOf(name))) !== null) {
    await account.deleteWorker(workerOf(name));
    desk.say(`Worker ${workerOf(name)} deleted, with its objects`);
  }
  if (tenant.index !== null && (await account.indexes()).some((index) => index.name === tenant.index)) {
    await account.deleteIndex(tenant.index);
    desk.say(`Vectorize index ${tenant.index} deleted`);
  }
  const there = await account.databases();
  for (const binding of bindingsOf(tenant.shards)) {
    const database = there.find((one) => one.name === databaseOf(name, binding));
    const id = tenant.databases.get(binding);
    // One of the same name that this tenant never had is another's.
    if (database === undefined || (id !== undefined && id !== database.uuid)) continue;
    await account.deleteDatabase(database.name);
    desk.say(`D1 database ${database.name} deleted`);
  }
  desk.files.remove(name);
  desk.say(`${desk.files.pathOf(name)} and its secret deleted`);
}
