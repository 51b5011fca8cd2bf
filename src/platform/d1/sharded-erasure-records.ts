import { threadOwner, type UserHash } from "../../domain/ids.ts";
import type { PublicKey } from "../../domain/schema/erasure.ts";
import type { DeploymentMark } from "./deployment-mark.ts";
import type { ErasureRecords } from "./erasure-records.ts";
import { ofUser } from "./shards.ts";

export type ErasuresShard = {
  erasures: ErasureRecords;
  mark: Pick<DeploymentMark, "demand" | "demandUnchanged">;
};

/**
 * What D1 knows of erasures over several databases. An erasure is where the user's rows are, whose hash its id begins with:
 * so it is noted in one batch with the fence. The keys of receipts are the tenant's, and in the main one.
 */
export class ShardedErasureRecords implements ErasureRecords {
  readonly #shards: readonly ErasuresShard[];
  readonly #main: ErasuresShard;

  constructor(shards: readonly ErasuresShard[], main: ErasuresShard) {
    this.#shards = shards;
    this.#main = main;
  }

  async note(...[erasure, more]: Parameters<ErasureRecords["note"]>): Promise<void> {
    await (await this.#with(erasure.id)).note(erasure, more);
  }

  async get(id: string): ReturnType<ErasureRecords["get"]> {
    return (await this.#with(id)).get(id);
  }

  async eraseMemories(fence: Parameters<ErasureRecords["eraseMemories"]>[0]): Promise<number> {
    return (await this.#of(fence.user)).eraseMemories(fence);
  }

  async eraseThreads(fence: Parameters<ErasureRecords["eraseThreads"]>[0]): Promise<number> {
    return (await this.#of(fence.user)).eraseThreads(fence);
  }

  async eraseUser(fence: Parameters<ErasureRecords["eraseUser"]>[0]): Promise<number> {
    return (await this.#of(fence.user)).eraseUser(fence);
  }

  async left(fence: Parameters<ErasureRecords["left"]>[0]): ReturnType<ErasureRecords["left"]> {
    return (await this.#of(fence.user)).left(fence);
  }

  async ofScope(scope: Parameters<ErasureRecords["ofScope"]>[0]): Promise<number[]> {
    return (await this.#of(scope.user)).ofScope(scope);
  }

  async eraseVersions(user: UserHash, versions: readonly number[]): Promise<void> {
    await (await this.#of(user)).eraseVersions(user, versions);
  }

  async running(page: Parameters<ErasureRecords["running"]>[0]): Promise<string[]> {
    // The cron asks, which marks no database.
    const found = await Promise.all(
      this.#shards.map(async ({ erasures, mark }) => {
        await mark.demandUnchanged();
        return erasures.running(page);
      }),
    );
    return found.flat();
  }

  async hasThread(id: string): Promise<boolean> {
    return (await this.#with(id)).hasThread(id);
  }

  async addKey(key: PublicKey): Promise<void> {
    await (await proven(this.#main)).addKey(key);
  }

  async keys(): Promise<PublicKey[]> {
    return (await proven(this.#main)).keys();
  }

  #of(user: UserHash): Promise<ErasureRecords> {
    return proven(ofUser(this.#shards, user));
  }

  /** Where what has this id is: an erasure or a thread. */
  #with(id: string): Promise<ErasureRecords> {
    const user = threadOwner(id);
    if (user === null) throw new Error("the id of an erasure or a thread begins with whose it is");
    return this.#of(user);
  }
}

async function proven({ erasures, mark }: ErasuresShard): Promise<ErasureRecords> {
  await mark.demand();
  return erasures;
}
