import { ownerNames, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { field } from "../../../src/domain/conversation/message.ts";
import { checksAgainst } from "../../../src/domain/ingest/checks/check-proposal.ts";
import { ofOwner } from "../../../src/domain/ingest/checks/check-speaker.ts";
import type { FactProposal } from "../../../src/domain/ingest/proposal.ts";
import type { RememberBody } from "../../../src/domain/schema/memory.ts";
import { parsed } from "../threads/message-documents.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadReader } from "../threads/thread-reader.ts";
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
/** Bytes of messages that one call reads. A citation behind them states nothing. */
const READ = 16 * 1024 * 1024;

/** A message that bodies of a call cite: its time, if it states a fact; null otherwise. */
type CitedMessage = (fact: Omit<FactProposal, "sources">) => number | null;

/** Looks up the message that a fact cites (of a thread alone, the last of a user), to tell if the owner of the memory states the fact in it. */
export class CitedStatements {
  readonly #deps: CitedStatementsDependencies;

  constructor(deps: CitedStatementsDependencies) {
    this.#deps = deps;
  }

  /**
   * For the bodies of one call, each message is read once: the time of the message that a body cites, if it states the fact; null
   * otherwise. It is a message of the owner in the role of a user, which a person has appended within the last day, and it passes the
   * checks of an extraction.
   */
  ofCall(): (body: RememberBody) => number | null {
    const reader = new BoundReader(this.#deps.stores.reader);
    const known = new Map<string, CitedMessage | null>();
    return ({ source, subject, predicate, object, text }) => {
      if (source?.thread === undefined) return null;
      if (subject === undefined || predicate === undefined || object === undefined) return null;
      const key = JSON.stringify([source.thread, source.message ?? null]);
      if (!known.has(key)) known.set(key, this.#cited(reader, source.thread, source.message));
      const cited = known.get(key);
      return cited?.({ subject, predicate, object, ...(text !== undefined && { text }) }) ?? null;
    };
  }

  #cited(reader: BoundReader, id: string, message: string | number | undefined): CitedMessage | null {
    const { stores, now } = this.#deps;
    const thread = stores.threads.get(id);
    const seq = thread && seqIn(reader, thread, message);
    const position = thread && seq !== null ? stores.lineage.position(thread, seq) : null;
    const writtenAt = position === null ? null : stores.messages.saidByPersonAt(position);
    if (thread === null || seq === null || writtenAt === null || writtenAt < now() - RECENT_MS) return null;
    const window = messagesAround({ reader, thread }, [seq]);
    if (reader.isSpent || window.find((one) => one.seq === seq)?.isOwner !== true) return null;
    const owners = ownerNames(thread.speakers ?? UNNAMED);
    const check = checksAgainst(window);
    return (fact) =>
      check("fact", ofOwner({ ...fact, sources: [seq] }, owners)).reasons.length === 0 ? writtenAt : null;
  }
}

/** Reads messages until so many bytes of them are read. */
class BoundReader {
  readonly #reader: Pick<ThreadReader, "walk">;
  /** The ids of the last messages of users, by thread. */
  readonly ids = new Map<string, readonly { seq: number; id: unknown }[]>();
  #left = READ;

  constructor(reader: Pick<ThreadReader, "walk">) {
    this.#reader = reader;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  *walk(...args: Parameters<ThreadReader["walk"]>): ReturnType<ThreadReader["walk"]> {
    for (const message of this.isSpent ? [] : this.#reader.walk(...args)) {
      this.#left -= message.body.byteLength;
      if (this.isSpent) return;
      yield message;
    }
  }
}

/**
 * The seq of a message by that, or by the `id` that its caller gave it; of the last one of a user unless there is either. Null if there
 * is none.
 */
function seqIn(
  reader: BoundReader,
  thread: StoredThread,
  message: string | number | undefined,
): number | null {
  if (typeof message === "number") return message;
  const last = { order: "newest", view: "raw", role: "user" } as const;
  if (message === undefined) {
    const [newest] = reader.walk(thread, { ...last, slice: 1 }).take(1);
    return newest?.seq ?? null;
  }
  const ids =
    reader.ids.get(thread.id) ??
    Array.from(reader.walk(thread, { ...last, slice: WITH_ID }).take(WITH_ID), ({ seq, body }) => ({
      seq,
      id: field(parsed(body), "id"),
    }));
  reader.ids.set(thread.id, ids);
  return ids.find(({ id }) => id === message)?.seq ?? null;
}
