import { ok, type Result, wrong } from "../../domain/errors.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { ObjectItem } from "../../../durable-objects/user-memory/contract.ts";

/** Maps the ids of threads to another user: the part before the dot is the owner. */
export class ThreadIds {
  readonly from: UserHash;
  readonly to: UserHash;

  constructor(from: UserHash, to: UserHash) {
    this.from = from;
    this.to = to;
  }

  /** The line with mapped ids; a failure if one does not belong to the exported user. */
  mapped({ line, ...rest }: ObjectItem): Result<ObjectItem> {
    if (line.type !== "thread") {
      if (!("threadId" in line)) return ok({ line, ...rest });
      if (!this.#isOwn(line.threadId)) return foreign("threadId");
      return ok({ line: { ...line, threadId: this.#moved(line.threadId) }, ...rest });
    }
    const { id, parent, forkedFrom } = line;
    if (!this.#isOwn(id)) return foreign("id");
    if (parent && !this.#isOwn(parent.threadId)) return foreign("parent.threadId");
    if (forkedFrom !== undefined && !this.#isOwn(forkedFrom)) return foreign("forkedFrom");
    const mapped = {
      ...line,
      id: this.#moved(id),
      ...(parent && { parent: { ...parent, threadId: this.#moved(parent.threadId) } }),
      ...(forkedFrom !== undefined && { forkedFrom: this.#moved(forkedFrom) }),
    };
    return ok({ line: mapped, ...rest });
  }

  #isOwn(id: string): boolean {
    return id.startsWith(`${this.from}.`);
  }

  #moved(id: string): string {
    return `${this.to}${id.slice(this.from.length)}`;
  }
}

const foreign = (path: string) => wrong(path, "is not a thread of the user in the first line");
