import { hash16 } from "../../../src/domain/hash.ts";
import type { ChangesDelivery } from "../../../src/domain/schema/changes.ts";
import type { UserSummary } from "../../../src/domain/schema/statistics.ts";
import type { WebhookBreaker } from "../../../src/platform/d1/webhook-breaker.ts";
import type { Webhook } from "../../../src/platform/webhooks/webhook.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { backOff } from "../../storage/back-off.ts";
import type { Chore } from "../../storage/chores.ts";
import { Sql } from "../../storage/sql.ts";
import type { OwnerRecord } from "../core/owner-record.ts";
import type { ChangesFeed } from "./changes-feed.ts";

type WebhookDeliveryDependencies = {
  sql: SqlStorage;
  webhook: Webhook | null;
  breaker: Pick<WebhookBreaker, "ask" | "succeeded" | "failed">;
  feed: Pick<ChangesFeed, "read" | "version" | "versionOfNothing">;
  owner: Pick<OwnerRecord, "get">;
  alarms: Pick<AlarmScheduler, "scheduleBy">;
  now: () => number;
};
type Row = { userHash: string; version: string; failures: number; nextAt: number };

/** Changes of one turn go into one message. */
const GATHER_MS = 1_000;
const LAST_RETRY_MS = 60 * 60_000;
/** A user who waits is woken by the cron. This is for a deployment without one. */
const WAIT_MS = 7 * 24 * 60 * 60_000;
/** Items of one message. */
const ITEMS = 200;
/** The version of a receiver that has nothing: the feed answers it with a reset. */
const NOTHING = "0.0.0";

/**
 * Sends the user's changes to the tenant's webhook, one message after another: the next one only when the receiver has
 * acknowledged the last. A message that fails is repeated after 5 s, doubling to 1 h. While the receiver is away for the whole
 * tenant, the object waits without an alarm of its own until it is woken. Nothing is lost: the feed has the changes. Owns the SQL of
 * `webhook_delivery`: the version up to which the receiver has all changes.
 */
export class WebhookDelivery implements Chore {
  readonly #deps: WebhookDeliveryDependencies;
  readonly #sql: Sql;

  constructor(deps: WebhookDeliveryDependencies) {
    this.#deps = deps;
    this.#sql = new Sql(deps.sql);
  }

  /** Schedules the alarm if the receiver lacks a change. Call it in each transaction. */
  schedule(): void {
    const { alarms, now } = this.#deps;
    const due = this.nextDue(now());
    if (due !== null) alarms.scheduleBy(Math.max(due, now() + GATHER_MS));
  }

  /** Null without a webhook. No `nextAt` while the user waits to be woken, which nobody knows the time of. */
  state(): UserSummary["webhook"] | null {
    const { webhook, now } = this.#deps;
    if (webhook === null) return null;
    const behind = this.nextDue(now()) !== null;
    const { failures, nextAt } = this.#row() ?? { failures: 0, nextAt: 0 };
    const isKnown = behind && failures > 0 && nextAt <= now() + LAST_RETRY_MS;
    return { behind, failures, ...(isKnown && { nextAt }) };
  }

  nextDue(now: number): number | null {
    const { webhook, feed } = this.#deps;
    if (webhook === null) return null;
    const row = this.#row();
    if (feed.version === (row?.version ?? feed.versionOfNothing)) return null;
    return Math.max(now, row?.nextAt ?? 0);
  }

  async run(now: number): Promise<void> {
    const { webhook, feed } = this.#deps;
    const due = this.nextDue(now);
    if (webhook === null || due === null || due > now) return;
    const row = this.#row() ?? this.#begin();
    if (row === null) return;
    const page = feed.read({ after: row.version, limit: ITEMS });
    if (!page.ok) throw new Error(`the version ${row.version} is none`);
    const { items, reset, version } = page.value;
    // Numbers were used up, and nothing changed.
    if (items.length === 0 && reset === undefined) return this.#delivered(version);
    const { breaker } = this.#deps;
    const unknown = { send: true, failing: false };
    const receiver = await this.#orElse(unknown, () => breaker.ask(row.userHash, now));
    if (!receiver.send) return this.#wait();
    const message = await this.#message(row, page.value);
    const attempt = await webhook.send(message);
    if (attempt.ok) {
      this.#delivered(version);
      if (receiver.failing) await this.#orElse(undefined, () => breaker.succeeded());
      return;
    }
    console.error({ message: "the webhook failed", problem: attempt.problem, webhookId: message.id });
    this.#failed(row, attempt.retryAfterMs ?? 0);
    if (await this.#orElse(false, () => breaker.failed(row.userHash, now))) this.#wait();
  }

  /** Tries again at once. Returns false if there is nothing to send. */
  wake(): boolean {
    const { alarms, now } = this.#deps;
    this.#sql.run`UPDATE webhook_delivery SET next_at = 0`;
    const due = this.nextDue(now());
    alarms.scheduleBy(due);
    return due !== null;
  }

  /** While D1 is away, each object goes by its own failures. */
  async #orElse<T>(otherwise: T, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      console.error({ message: "D1 does not know the state of the webhook", error: String(error) });
      return otherwise;
    }
  }

  #wait(): void {
    const until = this.#deps.now() + Math.ceil((WAIT_MS * (1 + Math.random())) / 2);
    this.#sql.run`UPDATE webhook_delivery SET next_at = ${until}`;
  }

  /** The id follows from the content: a repeated message has the same one. */
  async #message({ userHash, version: after }: Row, changes: ChangesDelivery["data"]["changes"]) {
    const user = this.#deps.owner.get()?.id ?? null;
    const data = { userHash, user, changes };
    const id = `msg_${await hash16(JSON.stringify([after, data]))}`;
    const delivery: ChangesDelivery = {
      type: "user.changed",
      timestamp: new Date(this.#deps.now()).toISOString(),
      data,
    };
    return { id, body: JSON.stringify(delivery) };
  }

  #row(): Row | null {
    const [row] = this.#sql.rows<Row>`
      SELECT user_hash AS "userHash", version, attempts AS failures, next_at AS "nextAt" FROM webhook_delivery`;
    return row ?? null;
  }

  /** Stored before the first attempt: a receiver that got it, and whose answer was lost, is told of an erasure too. */
  #begin(): Row | null {
    const owner = this.#deps.owner.get();
    if (owner === null) return null;
    const row: Row = { userHash: owner.hash, version: NOTHING, failures: 0, nextAt: 0 };
    this.#sql.run`
      INSERT INTO webhook_delivery (user_hash, version, attempts, next_at)
      VALUES (${row.userHash}, ${row.version}, ${row.failures}, ${row.nextAt})`;
    return row;
  }

  #delivered(version: string): void {
    this.#sql.run`UPDATE webhook_delivery SET version = ${version}, attempts = 0, next_at = 0`;
  }

  #failed({ failures }: Row, retryAfterMs: number): void {
    const wait = Math.min(LAST_RETRY_MS, Math.max(backOff(failures + 1, LAST_RETRY_MS), retryAfterMs));
    this.#sql.run`
      UPDATE webhook_delivery SET attempts = attempts + 1, next_at = ${this.#deps.now() + wait}`;
  }
}
