import { threadOwner, type UserHash } from "../../domain/ids.ts";
import type { DeploymentMark } from "./deployment-mark.ts";
import { ofUser } from "./shards.ts";
import type { ThreadRow } from "./tables.ts";
import type { CatalogueChanges, CataloguePage, ThreadCatalogue } from "./thread-catalogue.ts";

export type CatalogueShard = { catalogue: ThreadCatalogue; mark: Pick<DeploymentMark, "demand"> };
type Changes = Pick<CatalogueChanges, "epoch" | "user"> & { put: ThreadRow[]; remove: string[] };

/** The catalogue of threads over several databases, each with the threads of the users whose hash falls to it. */
export class ShardedThreadCatalogue implements ThreadCatalogue {
  readonly #shards: readonly CatalogueShard[];

  constructor(shards: readonly CatalogueShard[]) {
    this.#shards = shards;
  }

  /** In one batch a shard; the changes of one user are in one. */
  async apply({ put, remove, epoch, user }: CatalogueChanges): Promise<void> {
    const parts = new Map<CatalogueShard, Changes>();
    const partOf = (owner: UserHash): Changes => {
      const shard = ofUser(this.#shards, owner);
      const part = parts.get(shard) ?? { put: [], remove: [], epoch };
      parts.set(shard, part);
      return part;
    };
    for (const row of put) partOf(row.userHash).put.push(row);
    for (const id of remove) partOf(ownerOf(id)).remove.push(id);
    if (user !== undefined) partOf(user.hash).user = user;
    await Promise.all(Array.from(parts, async ([shard, part]) => (await proven(shard)).apply(part)));
  }

  /** Without an owner, rejects when one of the shards does not answer: the list is complete or it is none. */
  async list(page: CataloguePage): Promise<ThreadRow[]> {
    if (page.owner !== undefined) return (await proven(ofUser(this.#shards, page.owner))).list(page);
    const pages = await Promise.all(this.#shards.map(async (shard) => (await proven(shard)).list(page)));
    // The first of all are among the first of each.
    return pages.flat().toSorted(newestFirst).slice(0, page.limit);
  }
}

/** As D1 sorts: ids are ASCII, so both compare bytes. */
const newestFirst = (a: ThreadRow, b: ThreadRow): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);

function ownerOf(threadId: string): UserHash {
  const owner = threadOwner(threadId);
  if (owner === null) throw new Error("what is catalogued has the id of a thread");
  return owner;
}

async function proven({ catalogue, mark }: CatalogueShard): Promise<ThreadCatalogue> {
  await mark.demand();
  return catalogue;
}
