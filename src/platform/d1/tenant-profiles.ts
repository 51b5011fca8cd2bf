import { asc, eq, sql } from "drizzle-orm";
import { limits } from "../../domain/limits.ts";
import type { ContextLayer, ContextProfile } from "../../domain/schema/context.ts";
import { D1Store } from "./d1-store.ts";
import { contextProfiles } from "./tables.ts";

/** The lists of layers that all users of the tenant can name. Every method rejects when D1 does not answer. */
export class D1TenantProfiles extends D1Store {
  async get(name: string): Promise<ContextLayer[] | null> {
    const row = await this.db.select().from(contextProfiles).where(eq(contextProfiles.name, name)).get();
    return row?.layers ?? null;
  }

  /** All of them, by name. */
  async list(): Promise<ContextProfile[]> {
    return this.db.select().from(contextProfiles).orderBy(asc(contextProfiles.name));
  }

  /** False, without a write, at the limit. */
  async put({ name, layers }: ContextProfile): Promise<boolean> {
    const stored = await this.db.all(sql`
      INSERT INTO context_profiles (name, layers) SELECT ${name}, ${JSON.stringify(layers)}
      WHERE (SELECT COUNT(*) FROM context_profiles WHERE name <> ${name}) < ${limits.contextProfiles}
      ON CONFLICT (name) DO UPDATE SET layers = excluded.layers
      RETURNING name`);
    return stored.length > 0;
  }

  async delete(name: string): Promise<void> {
    await this.db.delete(contextProfiles).where(eq(contextProfiles.name, name));
  }
}
