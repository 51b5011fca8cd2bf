import { ok, type Result, wrong } from "../../domain/errors.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { ObjectItem } from "../../../durable-objects/user-memory/contract.ts";

/** The ids of threads on their way to another user: what stands before the dot is whose they are. */
export class ThreadIds {
  readonly from: UserHash;
  readonly to: UserHash;

  constructor(from: UserHash, to: UserHash) {
    this.from = from;
    this.to = to;
  }

  /** The line with the ids that its threads have there; a failure if one is not of the user that was exported. */
  mapped({ line, ...rest }: ObjectItem): Result<ObjectItem> {
    const ids =
      line.type === "thread"
        ? { id: line.id, "parent.threadId": line.parent?.threadId, forkedFrom: line.forkedFrom }
        : "threadId" in line
          ? { threadId: line.threadId }
          : {};
    for (const [path, id] of Object.entries(ids))
      if (id !== undefined && !id.startsWith(`${this.from}.`))
        return wrong(path, "is no thread of the user in the first line");
    if (this.from === this.to) return ok({ line, ...rest });
    const mapped =
      line.type === "thread"
        ? {
            ...line,
            id: this.#moved(line.id),
            ...(line.parent && {
              parent: { ...line.parent, threadId: this.#moved(line.parent.threadId) },
            }),
            ...(line.forkedFrom !== undefined && { forkedFrom: this.#moved(line.forkedFrom) }),
          }
        : "threadId" in line
          ? { ...line, threadId: this.#moved(line.threadId) }
          : line;
    return ok({ line: mapped, ...rest });
  }

  #moved(id: string): string {
    return `${this.to}${id.slice(this.from.length)}`;
  }
}
