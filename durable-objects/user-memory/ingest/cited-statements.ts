import { ownerNames, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { field } from "../../../src/domain/conversation/message.ts";
import { checkProposal } from "../../../src/domain/ingest/checks/check-proposal.ts";
import { ofOwner } from "../../../src/domain/ingest/checks/check-speaker.ts";
import type { RememberBody } from "../../../src/domain/schema/memory.ts";
import { parsed } from "../threads/message-store.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import { messagesAround } from "./thread-window.ts";

type CitedStatementsDependencies = {
  stores: Pick<ThreadStores, "threads" | "reader" | "lineage" | "messages">;
  now: () => number;
};

/** An older message is of another conversation: it may have been true once. */
const RECENT_MS = 24 * 60 * 60 * 1000;
/** The last messages of users, in which an id of the caller's is looked for. */
const WITH_ID = 50;

/** Looks up the message that a fact cites (of a thread alone, the last of a user), to tell if the owner of the memory states the fact in it. */
export class CitedStatements {
  readonly #deps: CitedStatementsDependencies;

  constructor(deps: CitedStatementsDependencies) {
    this.#deps = deps;
  }

  /**
   * The time of the message that a body cites, if it states the fact; null otherwise. It is a message of the owner in the role of a user, which
   * a person has appended within the last day, and it passes the checks of an extraction.
   */
  statedAt({ source, subject, predicate, object, text }: RememberBody): number | null {
    if (source?.thread === undefined) return null;
    if (subject === undefined || predicate === undefined || object === undefined) return null;
    const { stores, now } = this.#deps;
    const thread = stores.threads.get(source.thread);
    const seq = thread && this.#seqOf(thread, source.message);
    const position = thread && seq !== null ? stores.lineage.position(thread, seq) : null;
    if (thread === null || seq === null || position === null || !stores.messages.isByPerson(position))
      return null;
    const window = messagesAround(stores.reader, thread, [seq]);
    const cited = window.find((message) => message.seq === seq);
    if (cited === undefined || !cited.isOwner || cited.at < now() - RECENT_MS) return null;
    const given = { subject, predicate, object, ...(text !== undefined && { text }), sources: [seq] };
    const fact = ofOwner(given, ownerNames(thread.speakers ?? UNNAMED));
    return checkProposal("fact", fact, window).length === 0 ? cited.at : null;
  }

  /**
   * The seq of a message by that, or by the `id` that its caller gave it; of the last one of a user unless there is either. Null if
   * there is none.
   */
  #seqOf(thread: StoredThread, message: string | number | undefined): number | null {
    if (typeof message === "number") return message;
    const last = { order: "newest", view: "raw", role: "user", slice: WITH_ID } as const;
    for (const { seq, body } of this.#deps.stores.reader.walk(thread, last).take(WITH_ID))
      if (message === undefined || field(parsed(body), "id") === message) return seq;
    return null;
  }
}
