import { msOf, planOf, type RetentionPlan } from "../../../src/domain/retention.ts";
import type { Retention, UserRetention } from "../../../src/domain/schema/retention.ts";
import { writeEvent } from "../../../src/platform/d1/audit-log.ts";
import type { Ports } from "../../../src/platform/bindings.ts";
import type { TenantSettings } from "../../../src/platform/d1/tenant-settings.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { OwnerRecord } from "../core/owner-record.ts";
import { positionsOf } from "../core/position.ts";
import { RETAINED, type RetentionStore } from "../core/retention-store.ts";
import type { AgedMemories } from "../memories/aged-memories.ts";
import type { MemoryForgetter } from "../memories/memory-forgetter.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { PendingWrites } from "../memories/pending-writes.ts";
import type { AgedMessages } from "../threads/aged-messages.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { AgedConversations } from "./aged-conversations.ts";

type RetentionDependencies = Pick<Ports, "auditLog" | "now"> & {
  retention: RetentionStore;
  settings: Pick<TenantSettings<Retention>, "get">;
  aged: AgedMessages;
  agedConversations: AgedConversations;
  agedMemories: AgedMemories;
  table: MemoryTable;
  stores: Pick<ThreadStores, "threads" | "lineage">;
  owner: Pick<OwnerRecord, "get">;
  pendingWrites: PendingWrites;
  forgetter: Pick<MemoryForgetter, "forgetInTurn">;
  alarms: AlarmScheduler;
};
/** The rules that a call sets; those that it leaves out stay. */
type Rules = { tenant?: Retention; own?: Retention };

const DAY_MS = 24 * 60 * 60 * 1000;
/** At most one round a day. At least one a week: what an import brings may be old already. */
const [AT_MOST_EVERY_MS, AT_LEAST_EVERY_MS] = [DAY_MS, 7 * DAY_MS];
/** Slices of messages, and memories of each rule, that one alarm deletes. */
const [SLICES, MEMORIES] = [10, 500];

/** Deletes what is past the rules of retention: the alarm's chore, in bounded steps that may be repeated. */
export class RetentionDrive {
  readonly #deps: RetentionDependencies;
  /** The time of the last round. */
  #round: number | null = null;

  constructor(deps: RetentionDependencies) {
    this.#deps = deps;
  }

  nextDue(): number | null {
    return this.#deps.retention.get()?.dueAt ?? null;
  }

  /** The rules here; null if none are set. */
  rules(): Required<Rules> | null {
    const { tenant, own } = this.#rules();
    return Object.keys({ ...tenant, ...own }).length > 0 ? { tenant, own } : null;
  }

  #rules() {
    const stored = this.#deps.retention.get();
    return { tenant: stored?.tenant ?? {}, own: stored?.own ?? {} };
  }

  /** The rules here, and what they would delete now: with these in their place. */
  view(others: Rules = {}): UserRetention {
    const stored = this.#deps.retention.get();
    const rules = this.#rules();
    const [tenant, own] = [others.tenant ?? rules.tenant, others.own ?? rules.own];
    return {
      own,
      tenant,
      due: this.#due(planOf(tenant, own)),
      ...(stored?.dueAt != null && { nextAt: stored.dueAt }),
      ...(stored?.last != null && { last: stored.last }),
    };
  }

  /**
   * Sets rules. They are applied after an hour; the same rules again put off nothing. Of the tenant, an object without data learns when
   * it has some.
   */
  set(rules: Rules): UserRetention {
    const isNews = Object.keys(rules.own ?? {}).length > 0;
    if (isNews || this.#deps.retention.get() !== null || this.#hasData) this.#change(rules);
    return this.view();
  }

  #change(rules: Rules): void {
    const { retention, alarms, now } = this.#deps;
    const before = JSON.stringify(this.#rules());
    retention.set(rules);
    if (JSON.stringify(this.#rules()) === before) return;
    retention.set({ dueAt: null });
    if (this.#hasRules) alarms.scheduleBy(retention.changed(now()));
  }

  async run(): Promise<void> {
    await this.#askTenant();
    const { retention, now, agedConversations } = this.#deps;
    const dueAt = this.nextDue();
    if (dueAt === null || dueAt > now()) return;
    // An alarm that goes on with a round keeps its time; also where the object slept, if the round has deleted something.
    const at = [this.#round, retention.get()?.last?.at].includes(dueAt) ? dueAt : now();
    this.#round = at;
    retention.set({ dueAt: at });
    const { messages } = retention.plan();
    const bounds = { before: messages === null ? null : at - messages, now: at };
    let more = true;
    for (let slice = 0; slice < SLICES && more && this.#goesOn(at); slice++) {
      more = agedConversations.deleteSome(bounds);
      await turn();
    }
    if (await this.#deleteMemories(at)) more = true;
    await this.#audit();
    if (this.#goesOn(at)) retention.set({ dueAt: more ? at : this.#nextRound(at) });
  }

  /** False if a call has changed the rules since the round of this time began, or erased the user. */
  #goesOn(at: number): boolean {
    return this.nextDue() === at;
  }

  /** Deletes a slice of the memories that are past their rules. Returns whether there may be more. */
  async #deleteMemories(at: number): Promise<boolean> {
    const { retention, table, pendingWrites, agedMemories, forgetter, now } = this.#deps;
    const { memories: rules } = retention.plan();
    const owner = table.clock.owner();
    if (rules.length === 0 || owner === null) return false;
    let more = false;
    await pendingWrites.inTurn(async () => {
      // A pending write may change a memory. D1 is away then, and the chore comes again.
      if (!(await pendingWrites.flush())) throw new Error("D1 does not take the writes before a deletion");
      if (!this.#goesOn(at)) return;
      const found = rules.map((rule) => agedMemories.ids(rule, { now: at, limit: MEMORIES }));
      const ids = [...new Set(found.flat())];
      if (ids.length === 0) return;
      more = found.some((some) => some.length >= MEMORIES);
      const deleted = await forgetter.forgetInTurn(owner, ids, () =>
        retention.note({ memories: ids.length }, now()),
      );
      if (!deleted) throw new Error("D1 does not take the deletion of memories");
    });
    return more;
  }

  /** Writes the events of what was deleted. An event that is written twice counts once. */
  async #audit(): Promise<void> {
    const { retention, auditLog, owner, stores } = this.#deps;
    const noted = retention.get()?.noted ?? {};
    const userHash = owner.get()?.hash ?? stores.threads.owner();
    for (const what of RETAINED) {
      const event = noted[what];
      if (event === undefined) continue;
      const by = { actor: null, tokenId: null, requestId: null, about: null };
      await writeEvent(auditLog, { ...event, ...by, action: `retention.${what}`, outcome: "ok", userHash });
    }
    if (Object.keys(noted).length > 0 && retention.get() !== null) retention.set({ noted: {} });
  }

  /** A new user's object asks D1 once for the tenant's rules. Later ones come from the cron. */
  async #askTenant(): Promise<void> {
    const { retention, settings } = this.#deps;
    if ((retention.get()?.tenant ?? null) !== null || !this.#hasData) return;
    const tenant = await settings.get();
    // Meanwhile the user may be erased, and the cron may have brought later rules.
    if ((retention.get()?.tenant ?? null) !== null || !this.#hasData) return;
    this.#change({ tenant });
  }

  get #hasData(): boolean {
    return this.#deps.owner.get() !== null || this.#deps.stores.threads.owner() !== null;
  }

  get #hasRules(): boolean {
    const { messages, memories } = this.#deps.retention.plan();
    return messages !== null || memories.length > 0 || this.#deps.aged.withOwnRule().length > 0;
  }

  /** When to look again: when something is past its time, but once a day at most and once a week at least. */
  #nextRound(at: number): number | null {
    if (!this.#hasRules) return null;
    const { aged, agedMemories, retention } = this.#deps;
    const plan = retention.plan();
    const oldest = aged.oldest();
    const due = [
      plan.messages === null || oldest === null ? [] : oldest + plan.messages,
      agedMemories.firstDue(plan.memories) ?? [],
      aged.withOwnRule().length > 0 ? at : [],
      at + AT_LEAST_EVERY_MS,
    ].flat();
    return Math.max(Math.min(...due) + 1, at + AT_MOST_EVERY_MS);
  }

  #due(plan: RetentionPlan): UserRetention["due"] {
    const { aged, agedMemories, now } = this.#deps;
    const at = now();
    const before = plan.messages === null ? null : at - plan.messages;
    const ids = new Set(plan.memories.flatMap((rule) => agedMemories.ids(rule, { now: at, limit: -1 })));
    return {
      threads: aged.countThreads({ before, now: at }),
      messages: (before === null ? 0 : aged.count(before)) + this.#ofOwnRules(before ?? -8.64e15, at),
      memories: ids.size,
    };
  }

  /** The messages that only the own rules of their threads take: at this time or later, where all others go. */
  #ofOwnRules(from: number, at: number): number {
    const { aged, stores } = this.#deps;
    return aged.withOwnRule().reduce((sum, { id, retention }) => {
      const thread = stores.threads.get(id);
      if (thread === null) return sum;
      const span = { thread: thread.n, from, before: at - msOf(retention) };
      for (const segment of stores.lineage.segments(thread))
        sum += aged.countWithin(positionsOf(segment), span);
      return sum;
    }, 0);
  }
}
