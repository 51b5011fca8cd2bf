import { and, asc, desc, eq, gt, lte, ne, sql } from "drizzle-orm";
import { limits } from "../../domain/limits.ts";
import { D1Store } from "./d1-store.ts";
import { type RevokedTokenRow, revokedTokens, tokenFloor } from "./tables.ts";

/** `minIssuedAt` in milliseconds; 0 if there is none. */
export type Revoked = { minIssuedAt: number; tokenIds: string[] };

/** The tokens refused before they expire. Every method rejects when D1 does not answer. */
export class D1Revocations extends D1Store {
  /** The revocations of tokens that expire after `time`: one read of at most `limits.revokedTokens` ids. */
  async inForce(time: number): Promise<Revoked> {
    const [ids, [floor]] = await this.db.batch([
      this.db
        .select({ tokenId: revokedTokens.tokenId })
        .from(revokedTokens)
        .where(gt(revokedTokens.expiresAt, time))
        // At the limit, the token that expires first is left out.
        .orderBy(desc(revokedTokens.expiresAt))
        .limit(limits.revokedTokens),
      this.db.select({ at: tokenFloor.minIssuedAt }).from(tokenFloor),
    ]);
    return { minIssuedAt: floor?.at ?? 0, tokenIds: ids.map(({ tokenId }) => tokenId) };
  }

  async list({
    after = "",
    limit,
    time,
  }: {
    after?: string;
    limit: number;
    time: number;
  }): Promise<RevokedTokenRow[]> {
    return this.db
      .select()
      .from(revokedTokens)
      .where(and(gt(revokedTokens.tokenId, after), gt(revokedTokens.expiresAt, time)))
      .orderBy(asc(revokedTokens.tokenId))
      .limit(limit);
  }

  async minIssuedAt(): Promise<number | null> {
    return (await this.db.select().from(tokenFloor).get())?.minIssuedAt ?? null;
  }

  /** The time until which the token is revoked, never earlier than before. Null, without a write, at the limit. */
  async revoke({ tokenId, expiresAt, revokedAt }: RevokedTokenRow): Promise<number | null> {
    const others = this.db
      .select({ n: sql`1` })
      .from(revokedTokens)
      .where(and(ne(revokedTokens.tokenId, tokenId), gt(revokedTokens.expiresAt, revokedAt)));
    const [row] = await this.db.all<{ until: number }>(sql`
      INSERT INTO revoked_tokens (token_id, expires_at, revoked_at) SELECT ${tokenId}, ${expiresAt}, ${revokedAt}
      WHERE (SELECT COUNT(*) FROM (${others})) < ${limits.revokedTokens}
      ON CONFLICT (token_id) DO UPDATE SET expires_at = MAX(expires_at, excluded.expires_at)
      RETURNING expires_at AS until`);
    return row?.until ?? null;
  }

  /** Revokes what may be used once. False if it was revoked before: of several calls at once, one gets true. */
  async spend(token: RevokedTokenRow): Promise<boolean> {
    const rows = await this.db.insert(revokedTokens).values(token).onConflictDoNothing().returning();
    return rows.length > 0;
  }

  async restore(tokenId: string): Promise<void> {
    await this.db.delete(revokedTokens).where(eq(revokedTokens.tokenId, tokenId));
  }

  /** Null: tokens of any age are valid. */
  async setMinIssuedAt(time: number | null): Promise<void> {
    if (time === null) await this.db.delete(tokenFloor);
    else
      await this.db
        .insert(tokenFloor)
        .values({ id: 1, minIssuedAt: time })
        .onConflictDoUpdate({ target: tokenFloor.id, set: { minIssuedAt: time } });
  }

  /** Deletes the revocations of tokens that expired by `time`. */
  async prune(time: number): Promise<void> {
    await this.db.delete(revokedTokens).where(lte(revokedTokens.expiresAt, time));
  }
}

export type Revocations = Pick<D1Revocations, keyof D1Revocations>;
