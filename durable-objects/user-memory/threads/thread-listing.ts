import type { Result } from "../../../src/domain/errors.ts";
import type { ThreadOwner } from "../../../src/domain/memory/record.ts";
import type { CreateThreadBody } from "../../../src/domain/schema/thread.ts";
import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import type { UnlistedThreads } from "../../../src/platform/unlisted-threads.ts";
import { earliest } from "../../storage/chores.ts";
import { Failures } from "../../storage/failures.ts";
import { Sql } from "../../storage/sql.ts";
import type { Transactions } from "../core/transactions.ts";
import { type CatalogueParts, CatalogueWriter } from "./catalogue-writer.ts";
import { ThreadAnnouncements } from "./thread-announcements.ts";
import { DEFAULT_TITLE, type ThreadLine } from "./thread-row.ts";
import type { ThreadStores } from "./thread-stores.ts";

type ThreadListingDependencies = CatalogueParts & {
  storage: DurableObjectStorage;
  stores: Pick<ThreadStores, "threads">;
  transactions: Transactions;
  unlisted: UnlistedThreads;
};

/** Keeps a user's threads listed in the tenant's catalogue: before they begin, when they change, and no longer once they are gone. */
export class ThreadListing {
  readonly #deps: ThreadListingDependencies;
  readonly #writer: CatalogueWriter;
  readonly #announcements: ThreadAnnouncements;

  constructor(deps: ThreadListingDependencies) {
    this.#deps = deps;
    const { sql } = deps.storage;
    const parts = { ...deps, sql: new Sql(sql), failures: new Failures(sql) };
    this.#writer = new CatalogueWriter({ ...parts, rowOf: (id) => this.#rowOf(id) });
    this.#announcements = new ThreadAnnouncements({ ...parts, writer: this.#writer });
  }

  /** Lets the next write of the catalogue take a thread along, in the transaction of its change. */
  enqueue(id: string): void {
    this.#writer.enqueue(id);
  }

  /** Updates the catalogue before the caller gets its answer. */
  async written<T>(id: string, result: Result<T>): Promise<Result<T>> {
    this.#deps.alarms.scheduleBy(this.#writer.nextDue());
    if (result.ok) await this.#writer.drain(id);
    return result;
  }

  /** Lets the alarm write the user and all threads into the catalogue again. */
  rewriteCatalogue(): void {
    const { owner, alarms, now } = this.#deps;
    this.#writer.enqueueAll();
    owner.catalogueAgain(now());
    alarms.scheduleBy(now());
  }

  /** Lets the alarm write or remove one thread in the catalogue. */
  catalogueAgain(id: string): void {
    const { alarms, now } = this.#deps;
    this.#writer.enqueue(id);
    alarms.scheduleBy(now());
  }

  /** Messages were added or deleted: the catalogue follows within an hour. */
  messagesChanged(id: string): void {
    this.#deps.alarms.scheduleBy(this.#writer.enqueueLater(id));
  }

  /** Removes a deleted thread from the catalogue. `again`: also if D1 confirmed it. Returns false while D1 has not. */
  async removeFromCatalogue(id: string, { again = false } = {}): Promise<boolean> {
    if (again || this.#writer.isPending(id)) this.#writer.enqueue(id);
    await this.#writer.drain(id);
    // A thread that an import has brought back stays listed.
    return !this.#writer.isPending(id) || this.#deps.stores.threads.get(id) !== null;
  }

  /** The time up to which a row of the thread may come into the catalogue by a write that began earlier; 0 if none may. */
  landsUntil(id: string): number {
    return this.#writer.landsUntil(id);
  }

  /** Writes what is due in the catalogue, for the alarm. */
  run(): Promise<void> {
    return this.#announcements.settle();
  }

  nextDue(): number | null {
    return earliest(this.#writer.nextDue(), this.#announcements.nextDue());
  }

  /** Announces the threads that an import is about to begin, and then lets it take them in: see `imported`. */
  async importing<T>(
    owner: ThreadOwner,
    lines: readonly ThreadLine[],
    take: () => Result<T>,
  ): Promise<Result<T>> {
    const { current: epoch } = this.#deps.erasureEpoch;
    const rows = lines
      .filter(({ id, deleted }) => deleted !== true && this.#deps.stores.threads.any(id) === null)
      .map((line) => catalogueRow(line, owner, epoch));
    return rows.length === 0 ? take() : this.#announcements.announceAndBegin(rows, take);
  }

  /** An import has brought a thread: the catalogue hears of it from the alarm. */
  imported(id: string): void {
    this.#announcements.confirm(id, false);
  }

  /** Announces a thread, then begins it in one transaction. What is announced and then refused is taken back. */
  async begin<T>(row: ThreadRow, act: () => Result<T>): Promise<Result<T>> {
    const { id } = row;
    let isRefused = false;
    const outcome = await this.#announcements.announceAndBegin([row], () =>
      this.#deps.transactions.run(undefined, () => {
        const result = act();
        isRefused = !result.ok;
        if (result.ok) this.#announcements.confirm(id, same(this.#rowOf(id), row));
        return result;
      }),
    );
    if (isRefused) await this.removeFromCatalogue(id, { again: true });
    this.#deps.alarms.scheduleBy(this.nextDue());
    if (outcome.ok && !this.#announcements.isMarked(id)) await this.#writer.drain(id);
    return outcome;
  }

  /** The row of a thread that is to begin. */
  newRow(
    { hash, id: userId }: ThreadOwner,
    id: string,
    { fields, at }: { fields: CreateThreadBody; at: number },
  ): ThreadRow {
    const { owner, erasureEpoch } = this.#deps;
    return catalogueRow(
      { title: DEFAULT_TITLE, ...fields, id, createdAt: at, updatedAt: at },
      { hash, id: userId ?? owner.id() },
      erasureEpoch.current,
    );
  }

  #rowOf(id: string): ThreadRow | null {
    const { owner, erasureEpoch } = this.#deps;
    const thread = this.#deps.stores.threads.get(id);
    if (thread === null) return null;
    return catalogueRow(thread, { hash: hashOf(id), id: owner.id() }, erasureEpoch.current);
  }
}

export const hashOf = (threadId: string): string => threadId.slice(0, threadId.indexOf("."));

function catalogueRow(
  thread: Pick<ThreadLine, "id" | "title" | "createdAt" | "updatedAt"> & CreateThreadBody,
  { hash: userHash, id: userId }: { hash: string; id: string | null },
  epoch: number,
): ThreadRow {
  const { id, title, agent = null, resourceSlug = null, recordId = null, metadata = null } = thread;
  const { createdAt, updatedAt } = thread;
  const fields = { title, agent, resourceSlug, recordId, metadata, createdAt, updatedAt };
  return { id, userHash, userId, ...fields, epoch };
}

const same = (a: ThreadRow | null, b: ThreadRow): boolean => JSON.stringify(a) === JSON.stringify(b);
