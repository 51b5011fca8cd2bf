import type { UserHash } from "../../domain/ids.ts";
import type { DeploymentMark } from "./deployment-mark.ts";
import type { MemoryRecords } from "./memory-records.ts";
import { ofUser } from "./shards.ts";

export type RecordsShard = {
  records: MemoryRecords;
  mark: Pick<DeploymentMark, "demand" | "demandUnchanged">;
};

/** The record of memories over several databases, each with the users whose hash falls to it. */
export class ShardedMemoryRecords implements MemoryRecords {
  readonly #shards: readonly RecordsShard[];

  constructor(shards: readonly RecordsShard[]) {
    this.#shards = shards;
  }

  async write(write: Parameters<MemoryRecords["write"]>[0]): Promise<void> {
    await (await this.#of(write.owner.hash)).write(write);
  }

  async get(...[owner, id, moment]: Parameters<MemoryRecords["get"]>): ReturnType<MemoryRecords["get"]> {
    return (await this.#of(owner)).get(owner, id, moment);
  }

  async list(...[owner, page]: Parameters<MemoryRecords["list"]>): ReturnType<MemoryRecords["list"]> {
    return (await this.#of(owner)).list(owner, page);
  }

  async history(
    ...[owner, id, page]: Parameters<MemoryRecords["history"]>
  ): ReturnType<MemoryRecords["history"]> {
    return (await this.#of(owner)).history(owner, id, page);
  }

  async all(...[owner, page]: Parameters<MemoryRecords["all"]>): ReturnType<MemoryRecords["all"]> {
    return (await this.#of(owner)).all(owner, page);
  }

  async exported(
    ...[owner, page]: Parameters<MemoryRecords["exported"]>
  ): ReturnType<MemoryRecords["exported"]> {
    return (await this.#of(owner)).exported(owner, page);
  }

  /** Rejects when one of the shards does not answer: a page without its owners would pass over them. */
  async owners(page: { after?: UserHash; limit: number }): Promise<UserHash[]> {
    const pages = await Promise.all(
      this.#shards.map(async ({ records, mark }) => {
        // The cron asks too, and marks nothing: who a database is for is for a caller to say.
        await mark.demandUnchanged();
        return records.owners(page);
      }),
    );
    // Hashes are ASCII, so strings sort as SQLite sorts them.
    return pages
      .flat()
      .toSorted((a, b) => (a < b ? -1 : 1))
      .slice(0, page.limit);
  }

  async check(): Promise<void> {
    await Promise.all(this.#shards.map(({ records }) => records.check()));
  }

  #of(owner: UserHash): Promise<MemoryRecords> {
    return proven(ofUser(this.#shards, owner));
  }
}

async function proven({ records, mark }: RecordsShard): Promise<MemoryRecords> {
  await mark.demand();
  return records;
}
