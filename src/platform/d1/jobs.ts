import { and, eq, isNull, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { jobs, type JobRow } from "./tables.ts";

/** The progress of long jobs. Every method rejects when D1 does not answer. */
export class D1Jobs {
  readonly #db: DrizzleD1Database;

  constructor(database: D1Database) {
    this.#db = drizzle(database);
  }

  async get(name: string): Promise<JobRow | undefined> {
    return this.#db.select().from(jobs).where(eq(jobs.name, name)).get();
  }

  /** Jobs that are not finished, whose names begin with these characters; the least done first. */
  async unfinished(prefix: string, limit: number): Promise<JobRow[]> {
    const named = sql`substr(${jobs.name}, 1, ${prefix.length}) = ${prefix}`;
    return this.#db
      .select()
      .from(jobs)
      .where(and(named, isNull(jobs.finishedAt)))
      .orderBy(jobs.done, jobs.name)
      .limit(limit);
  }

  /** Starts or restarts a job. */
  async start(
    job: Pick<JobRow, "name" | "detail" | "startedAt"> & Partial<Pick<JobRow, "finishedAt" | "done">>,
  ): Promise<void> {
    const fresh = { position: "", done: 0, finishedAt: null, ...job };
    await this.#db.insert(jobs).values(fresh).onConflictDoUpdate({ target: jobs.name, set: fresh });
  }

  /** Saves progress, unless another run was faster or the job was restarted. Returns whether it did. */
  async advance(
    { name, startedAt, position }: JobRow,
    to: Pick<JobRow, "position" | "done" | "finishedAt">,
  ): Promise<boolean> {
    const { meta } = await this.#db
      .update(jobs)
      .set(to)
      .where(and(eq(jobs.name, name), eq(jobs.startedAt, startedAt), eq(jobs.position, position)));
    return meta.changes > 0;
  }
}

export type Jobs = Pick<D1Jobs, keyof D1Jobs>;
