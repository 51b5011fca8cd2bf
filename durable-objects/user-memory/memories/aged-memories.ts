import { msOf } from "../../../src/domain/retention.ts";
import { PINNED } from "../../../src/domain/context/layers/order.ts";
import { memoryKind } from "../../../src/domain/schema/memory-fields.ts";
import type { RetentionRule } from "../../../src/domain/schema/retention.ts";
import type { SqlCondition } from "../core/sql-condition.ts";
import { SqlStore } from "../core/sql-store.ts";

/** A memory is as old as its last version. */
const LAST = `NOT EXISTS (SELECT 1 FROM memories AS later WHERE later.id = memories.id AND later.version > memories.version)`;
const IS_PINNED = `EXISTS (SELECT 1 FROM json_each(memories.tags) AS tag WHERE tag.value = '${PINNED}')`;
/** A person's word, which a rule takes only if it names the trust. */
const IS_OWN_WORD = "kind = 'fact' AND trust IN ('user', 'operator')";

/** Finds the memories that are past the age of a rule. Reads `memories`. */
export class AgedMemories extends SqlStore {
  /** Their ids, at most `limit` of each kind. */
  ids(rule: RetentionRule, { now, limit }: { now: number; limit: number }): string[] {
    return kindsOf(rule).flatMap((kind) => {
      const { sql, bindings } = covered(rule, kind);
      const past = [...bindings, now - msOf(rule.keep), limit];
      return this.column<string>(`SELECT id ${sql} AND updated_at < ? LIMIT ?`, past);
    });
  }

  /** When the first memory is past its age; null if the rules cover none. */
  firstDue(rules: readonly RetentionRule[]): number | null {
    const due = rules.flatMap((rule) =>
      kindsOf(rule).flatMap((kind) => {
        const { sql, bindings } = covered(rule, kind);
        const oldest = `SELECT updated_at ${sql} ORDER BY updated_at LIMIT 1`;
        return this.column<number>(oldest, bindings).map((at) => at + msOf(rule.keep));
      }),
    );
    return due.length === 0 ? null : Math.min(...due);
  }
}

const kindsOf = ({ kind }: RetentionRule) => (kind === undefined ? memoryKind.options : [kind]);

/** The memories of a kind that a rule covers, whatever their age. Index `memories_by_kind`. */
function covered({ scope, trust, pinned }: RetentionRule, kind: string): SqlCondition {
  const conditions = [
    pinned === true ? IS_PINNED : `NOT ${IS_PINNED}`,
    trust === undefined ? `NOT (${IS_OWN_WORD})` : "trust = ?",
    ...(scope === undefined ? [] : ["scope = ?"]),
    LAST,
  ];
  return {
    sql: `FROM memories INDEXED BY memories_by_kind WHERE kind = ? AND ${conditions.join(" AND ")}`,
    bindings: [kind, trust ?? [], scope ?? []].flat(),
  };
}
