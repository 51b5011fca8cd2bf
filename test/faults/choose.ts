import { clock } from "../doubles/control.ts";
import { bodyOf, patchOf } from "./bodies.ts";
import type { Operation, Upkeep } from "./steps.ts";
import type { User } from "./user.ts";
import { said, type Op } from "./world.ts";

/** An operation on what there is when it begins. */
export type Chosen = { op: Op; key?: string };

/** Makes of an operation's numbers what they mean at the moment. */
export class Chooser {
  /** True if any memory was ever given an end. */
  expiring = false;
  #births = 0;
  /** The latest time that the clock showed: that of a write never goes back. */
  #latest = 0;

  look(): void {
    this.#latest = Math.max(this.#latest, clock());
  }

  /** Null: there is nothing to do it to, or it is no operation on memories. */
  choose(user: User, operation: Operation | Upkeep): Chosen | null {
    const { model, unique } = user;
    const birth = `b${++this.#births}`;
    const targets = model.targets();
    const target = "which" in operation ? targets[operation.which % targets.length] : undefined;
    switch (operation.do) {
      case "remember":
      case "batch": {
        const bodies = operation.do === "batch" ? operation.bodies : [operation.body];
        this.expiring ||= bodies.some(({ expires }) => expires !== null);
        return { op: { do: "remember", birth, bodies: bodies.map((body) => bodyOf(body, this.#latest)) } };
      }
      case "unique": {
        const body = uniqueBody(birth, operation.tag);
        unique.push({ births: [`${birth}.0`], key: birth, body, at: clock() });
        return { op: { do: "remember", birth, bodies: [body], once: [] }, key: birth };
      }
      case "again": {
        // An answer is kept for a day.
        const kept = unique.filter(({ at }) => Math.abs(clock() - at) < 23 * 3600_000);
        const one = kept[operation.which % kept.length];
        if (one === undefined) return null;
        const once = [...one.births];
        one.births.push(`${birth}.0`);
        return { op: { do: "remember", birth, bodies: [one.body], once }, key: one.key };
      }
      case "patch": {
        if (target === undefined) return null;
        const changes = patchOf(operation.patch, { target: target.memo, birth, now: this.#latest });
        if (changes === null) return null;
        this.expiring ||= "expiresAt" in changes;
        return { op: { do: "patch", birth: target.memo.birth, changes } };
      }
      case "restore":
        // Which version a number means is only sure where there is one world.
        if (target === undefined || model.worlds.length > 1) return null;
        return {
          op: {
            do: "restore",
            birth: target.memo.birth,
            version: operation.version % target.memo.versions.length,
            now: this.#latest,
          },
        };
      case "release": {
        const kept = targets.filter(({ memo }) => said(memo).status === "quarantined");
        const one = kept[operation.which % kept.length] ?? target;
        return one ? { op: { do: "release", birth: one.memo.birth } } : null;
      }
      case "forget":
        return target ? { op: { do: "forget", birth: target.memo.birth } } : null;
      case "forgetTag":
        return { op: { do: "forgetTag", tag: operation.tag } };
      case "forgetAll":
      case "forgetUser":
        return { op: { do: operation.do } };
      default:
        return null;
    }
  }
}

const uniqueBody = (birth: string, tag: string | null) => ({
  name: null,
  how: "none" as const,
  text: `memo unique ${birth}`,
  object: null,
  tags: tag === null ? [] : [tag],
  status: "active" as const,
  expiresAt: null,
});
