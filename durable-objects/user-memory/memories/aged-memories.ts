import { msOf } from "../../../src/domain/retention.ts";
import { PINNED } from "../../../src/domain/context/layers/order.ts";
import { memoryKind } from "../../../src/domain/schema/memory-fields.ts";
import type { RetentionRule } from "../../../src/domain/schema/retention.ts";
import { part, raw, type SqlPart, SqlStore } from "../../storage/sql.ts";

/** A memory is as old as its last version. */
const LAST = raw(
  `NOT EXISTS (SELECT 1 FROM memories AS later WHERE later.id = memories.id AND later.version > memories.version)`,
);
const IS_PINNED = part`EXISTS (SELECT 1 FROM json_each(memories.tags) AS tag WHERE tag.value = ${PINNED})`;
/** A person's word, which a rule takes only if it names the trust. */
const IS_OWN_WORD = raw("kind = 'fact' AND trust IN ('user', 'operator')");

/** Finds the memories that are past the age of a rule. Reads `memories`. */
export class AgedMemories extends SqlStore {
  /** Their ids, at most `limit` of each kind. */
  ids(rule: RetentionRule, { now, limit }: { now: number; limit: number }): string[] {
    const before = now - msOf(rule.keep);
    return kindsOf(rule).flatMap(
      (kind) =>
        this.sql.column<string>`SELECT id ${covered(rule, kind)} AND updated_at < ${before} LIMIT ${limit}`,
    );
  }

  /** When the first memory is past its age; null if the rules cover none. */
  firstDue(rules: readonly RetentionRule[]): number | null {
    const due = rules.flatMap((rule) =>
      kindsOf(rule)
        .flatMap(
          (kind) =>
            this.sql.column<number>`SELECT updated_at ${covered(rule, kind)} ORDER BY updated_at LIMIT 1`,
        )
        .map((at) => at + msOf(rule.keep)),
    );
    return due.length === 0 ? null : Math.min(...due);
  }
}

const kindsOf = ({ kind }: RetentionRule) => (kind === undefined ? memoryKind.options : [kind]);

/** The memories of a kind that a rule covers, whatever their age. Index `memories_by_kind`. */
const covered = ({ scope, trust, pinned }: RetentionRule, kind: string): SqlPart => part`
  FROM memories INDEXED BY memories_by_kind WHERE kind = ${kind}
    AND ${pinned === true ? IS_PINNED : part`NOT ${IS_PINNED}`}
    AND ${trust === undefined ? part`NOT (${IS_OWN_WORD})` : part`trust = ${trust}`}
    AND ${scope === undefined ? raw("TRUE") : part`scope = ${scope}`} AND ${LAST}`;
