import { and, eq, isNull, lt, lte, sql } from "drizzle-orm";
import type { UserHash } from "../../domain/ids.ts";
import { D1Store } from "./d1-store.ts";
import { jobs, type JobRow } from "./tables.ts";

/** The jobs that set users back begin with this, and a user's hash is behind it. */
export const RESTORES = "restore ";

/** The list of a job's detail without the user ?1. Only the notes of passes have lists. */
const WITHOUT = `UPDATE jobs SET detail = (SELECT json_group_array(value) FROM json_each(detail) WHERE value <> ?1)
  WHERE instr(detail, ?1) > 0 AND IIF(json_valid(detail), json_type(detail), '') = 'array'`;

const isNamed = (prefix: string) => sql`substr(${jobs.name}, 1, ${prefix.length}) = ${prefix}`;

/** The progress of long jobs. Every method rejects when D1 does not answer. */
export class D1Jobs extends D1Store {
  async get(name: string): Promise<JobRow | undefined> {
    return this.db.select().from(jobs).where(eq(jobs.name, name)).get();
  }

  /** Jobs that are not finished, whose names begin with these characters; the least done first. */
  async unfinished(prefix: string, limit: number): Promise<JobRow[]> {
    return this.db
      .select()
      .from(jobs)
      .where(and(isNamed(prefix), isNull(jobs.finishedAt)))
      .orderBy(jobs.done, jobs.name)
      .limit(limit);
  }

  /** Starts or restarts a job. `keepsLater`: unless one that started later is in its place, which then stays. Returns the given job, whole. */
  async start(
    job: Pick<JobRow, "name" | "detail" | "startedAt"> & Partial<Pick<JobRow, "finishedAt" | "done">>,
    { keepsLater = false } = {},
  ): Promise<JobRow> {
    const fresh = { position: "", done: 0, finishedAt: null, ...job };
    await this.db
      .insert(jobs)
      .values(fresh)
      .onConflictDoUpdate({
        target: jobs.name,
        set: fresh,
        ...(keepsLater && { setWhere: lte(jobs.startedAt, job.startedAt) }),
      });
    return fresh;
  }

  /** Saves progress, unless another run was faster or the job was restarted. Returns whether it did. */
  async advance(
    { name, startedAt, position }: JobRow,
    to: Pick<JobRow, "position" | "done" | "finishedAt">,
  ): Promise<boolean> {
    const { meta } = await this.db
      .update(jobs)
      .set(to)
      .where(and(eq(jobs.name, name), eq(jobs.startedAt, startedAt), eq(jobs.position, position)));
    return meta.changes > 0;
  }

  /** Changes the detail of a job, unless it changed meanwhile, as by an erasure. Returns whether it did. */
  async rewrite(
    { name, detail }: Pick<JobRow, "name" | "detail">,
    to: Pick<JobRow, "detail" | "finishedAt">,
  ): Promise<boolean> {
    const { meta } = await this.db
      .update(jobs)
      .set(to)
      .where(and(eq(jobs.name, name), eq(jobs.detail, detail)));
    return meta.changes > 0;
  }

  /** Deletes the jobs whose names begin with these characters; `finishedBefore`: only those that were finished by then. */
  async remove(prefix: string, finishedBefore?: number): Promise<void> {
    const ended = finishedBefore === undefined ? undefined : lt(jobs.finishedAt, finishedBefore);
    await this.db.delete(jobs).where(and(isNamed(prefix), ended));
  }

  /** Deletes the restore of an erased user that started by a time, and takes the user out of the notes of passes. */
  async forget(user: UserHash, upTo: number): Promise<void> {
    await this.db.delete(jobs).where(and(eq(jobs.name, RESTORES + user), lte(jobs.startedAt, upTo)));
    await this.run(WITHOUT, user);
  }
}

export type Jobs = Pick<D1Jobs, keyof D1Jobs>;
