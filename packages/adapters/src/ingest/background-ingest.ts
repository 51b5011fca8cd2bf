import { normalise } from "../../../../src/domain/memory/normalise.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { IngestBody } from "../../../client/src/shapes.ts";
import { type TimeLimit, withinLimit } from "../limits/time-limit.ts";
import { isNumberOrUnset, requireValid } from "../options/require-options.ts";

/** Options of an adapter that ingests conversations in the background. */
export type BackgroundIngestOptions = {
  /** Of `facts`, `episodes` and `procedures`; the first two unless set. */
  extract?: NonNullable<IngestBody["extract"]>;
  /** The scope of the extracted memories. */
  scope?: string;
  /** The names of the user among those of the messages, for a chat of several people; a conversation fails until the user speaks. */
  owners?: readonly string[];
  /** Milliseconds without another turn of the conversation before it is sent; 2,000 unless set. */
  afterMs?: number;
  /** The longest time to send a conversation, in milliseconds; 10,000 unless set. No turn waits for it. */
  timeoutMs?: TimeLimit["timeoutMs"];
  /** Receives each failure. The conversation stays pending. The client's `onLaterError` unless set. */
  onError?: (error: unknown, failure: IngestFailure) => unknown;
};
/** `conversation`: what `pending` names it by. */
export type IngestFailure = { doing: "ingest"; conversation: string };

export const BACKGROUND_INGEST_OPTIONS: OptionNames<BackgroundIngestOptions> = {
  extract: true,
  scope: true,
  owners: true,
  afterMs: true,
  onError: true,
  timeoutMs: true,
};

/** The conversation of a user, whole or from any message on. */
export type Conversation = {
  user: string;
  /** Different for each conversation of the user. */
  name: string;
  body: Pick<IngestBody, "messages" | "threadId" | "sessionId">;
};

const AFTER_MS = 2_000;
const TIMEOUT_MS = 10_000;
/** Messages of one ingest. Of a longer conversation the last ones are sent: the others came with earlier turns. */
const MESSAGES = 1_000;
/** The longest delay: a Worker ends 30 seconds after its response. */
const LONGEST_MS = 25_000;

/** Throws a `TypeError` for an invalid option. */
export function requireIngestOptions(
  made: string,
  { afterMs, extract, owners, onError }: BackgroundIngestOptions,
): void {
  requireValid(
    made,
    { afterMs: isNumberOrUnset(afterMs, 0, LONGEST_MS) },
    `a number from 0 to ${LONGEST_MS}`,
  );
  requireValid(made, { extract: extract === undefined || Array.isArray(extract) }, "a list of kinds");
  requireValid(made, { owners: owners === undefined || Array.isArray(owners) }, "a list of names");
  requireValid(made, { onError: onError === undefined || typeof onError === "function" }, "a function");
}

/**
 * Sends conversations to Cairn's ingest, without delaying a turn. A conversation waits until it is quiet for `afterMs`, and
 * a later turn takes the place of a waiting one. A failed one is sent again with the conversation's next turn, or by
 * `settle`. In a Worker the client needs `waitUntil`.
 */
export class BackgroundIngest {
  readonly #memory: Pick<Cairn, "ingest" | "later">;
  readonly #adapter: string;
  readonly #options: BackgroundIngestOptions;
  /** By user and name. A conversation is here until Cairn has stored it. */
  readonly #waiting = new Map<string, Conversation>();
  readonly #sending = new Map<string, Promise<void>>();

  constructor(memory: Pick<Cairn, "ingest" | "later">, adapter: string, options: BackgroundIngestOptions) {
    this.#memory = memory;
    this.#adapter = adapter;
    this.#options = options;
  }

  /** Names of the conversations that are not stored yet. */
  get pending(): string[] {
    return [...this.#waiting.values()].map(({ name }) => name);
  }

  /** Never throws. */
  submit(conversation: Conversation): void {
    const key = keyOf(conversation);
    this.#waiting.set(key, conversation);
    this.#memory.later(async () => {
      await new Promise((resolve) => void setTimeout(resolve, this.#options.afterMs ?? AFTER_MS));
      // A later turn has a timer of its own.
      if (this.#waiting.get(key) === conversation) await this.#send(key);
    });
  }

  /** Sends all waiting conversations now. Resolves when each has been tried; `pending` names those that failed. */
  async settle(): Promise<void> {
    await Promise.all([...this.#waiting.keys()].map((key) => this.#send(key)));
  }

  /** One call after another for each conversation: Cairn compares each with what is stored. */
  #send(key: string): Promise<void> {
    const sent = (this.#sending.get(key) ?? Promise.resolve()).then(() => this.#sendNow(key));
    this.#sending.set(key, sent);
    return sent;
  }

  async #sendNow(key: string): Promise<void> {
    const conversation = this.#waiting.get(key);
    if (conversation === undefined) return;
    const { user, name, body } = conversation;
    const { extract, scope, owners, timeoutMs = TIMEOUT_MS, onError } = this.#options;
    const { messages, ...others } = body;
    try {
      const sent = {
        ...others,
        ...(messages && { messages: messages.slice(-MESSAGES) }),
        ...(extract && { extract }),
        ...(scope !== undefined && { scope }),
        ...(owners && areNeeded(owners, messages) && { owners: [...owners] }),
      };
      await withinLimit({ timeoutMs }, (signal) =>
        this.#memory.ingest(user, sent, { adapter: this.#adapter, signal }),
      );
      if (this.#waiting.get(key) === conversation) this.#waiting.delete(key);
    } catch (error) {
      if (onError === undefined) this.#memory.later(() => Promise.reject(error));
      else this.#memory.later(async () => onError(error, { doing: "ingest", conversation: name }));
    }
  }
}

/** False if a user writes without a name, who is the owner too, and none with an owner's: Cairn refuses a list that names nobody. */
function areNeeded(owners: readonly string[], messages: Conversation["body"]["messages"] = []): boolean {
  const names = messages.filter(({ role }) => role === "user").map(({ name, speaker }) => name ?? speaker);
  const keys = owners.map(normalise);
  const isNamed = names.some((name) => typeof name === "string" && keys.includes(normalise(name)));
  return isNamed || names.every((name) => name !== undefined && name !== null);
}

const keyOf = ({ user, name }: Conversation): string => JSON.stringify([user, name]);
