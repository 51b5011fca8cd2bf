import type { UserHash } from "../../domain/ids.ts";
import type { DeploymentMark } from "./deployment-mark.ts";
import type { CataloguedUser, UserCatalogue } from "./user-catalogue.ts";

export type UsersShard = { users: UserCatalogue; mark: Pick<DeploymentMark, "demand"> };

/** The catalogue of users over several databases, each with the users whose hash falls to it. */
export class ShardedUserCatalogue implements UserCatalogue {
  readonly #shards: readonly UsersShard[];

  constructor(shards: readonly UsersShard[]) {
    this.#shards = shards;
  }

  /** Rejects when one of the shards does not answer: the list is complete or it is none. */
  async list(page: { after?: UserHash; limit: number }): Promise<CataloguedUser[]> {
    const pages = await Promise.all(this.#shards.map(async (shard) => (await proven(shard)).list(page)));
    // The first of all are among the first of each. Hashes are ASCII: both sort by bytes.
    return pages
      .flat()
      .toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
      .slice(0, page.limit);
  }
}

async function proven({ users, mark }: UsersShard): Promise<UserCatalogue> {
  await mark.demand();
  return users;
}
