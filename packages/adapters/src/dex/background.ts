import { unlessAborted } from "../../../client/src/attempt.ts";
import { newId } from "../../../client/src/new-id.ts";
import { isCairnError } from "../../../client/src/error.ts";
import type { Cairn, CallOptions, RememberBody } from "../../../client/src/index.ts";
import { episodeBody, type Place } from "./episodes.ts";
import { extractionOf, promptOf, SYSTEM } from "./extraction.ts";
import { shortened, transcriptOf } from "./messages.ts";
import type { DexMemoryOptions, DexMessage } from "./types.ts";

/**
 * The messages, place and time of one turn. `late`: an earlier try failed. `failures`: times the model failed to
 * summarise it but succeeded with another.
 */
type Turn = Place & { messages: readonly DexMessage[]; at: number; late: boolean; failures: number };
/** The memories of some turns, stored in one call; its idempotency key makes a resend safe. */
type Write = { turns: readonly Turn[]; bodies: RememberBody[]; idempotencyKey: string };

/** Characters of the conversation in one prompt. A single turn always goes out, shortened in the middle if necessary. */
const ROOM = 48_000;
/** After this many failures, while others succeed, a turn is stored as an excerpt of its beginning. */
const MOST_FAILURES = 3;
const EXCERPT = 500;

type BackgroundOptions = {
  memory: Cairn;
  user: string;
  llm: NonNullable<DexMemoryOptions["llm"]>;
  llmWithinMs: number;
  /** With fewer messages, a summary waits for more. */
  minMessages: number;
  onError: (error: unknown) => void;
};

/** Summarises turns in order while the conversation continues. A failed turn is retried with the next one. */
export class Background {
  readonly #options: BackgroundOptions;
  #turns: Turn[] = [];
  #writes: Write[] = [];
  #running: Promise<void> | null = null;
  #asked = false;
  #last = 0;

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  /** Queues a turn and returns at once. */
  add(turn: Omit<Turn, "late" | "failures">): void {
    // Keeps the order of two turns in one millisecond.
    this.#last = Math.max(turn.at, this.#last + 1);
    this.#turns.push({ ...turn, at: this.#last, late: false, failures: 0 });
    void this.#begin();
  }

  get pending(): readonly DexMessage[] {
    const written = this.#writes.flatMap(({ turns }) => turns);
    return [...written, ...this.#turns].flatMap(({ messages }) => messages);
  }

  /** Waits for the running work, then retries once what failed. */
  async settle({ signal }: CallOptions = {}): Promise<void> {
    await unlessAborted(signal, this.#running ?? Promise.resolve());
    if (this.pending.length > 0) await unlessAborted(signal, this.#begin());
  }

  #begin(): Promise<void> {
    this.#asked = true;
    if (this.#running !== null) return this.#running;
    const running = this.#run();
    this.#running = running;
    // Keeps a Worker alive for it. Failures are reported already.
    this.#options.memory.later(() => running);
    return running;
  }

  async #run(): Promise<void> {
    // Runs after the call that adds the turn has returned.
    await Promise.resolve();
    try {
      // A turn that arrives during a failure triggers the retry.
      while (this.#asked) {
        this.#asked = false;
        await this.#pass().catch(this.#options.onError);
      }
    } finally {
      this.#running = null;
    }
  }

  async #pass(): Promise<void> {
    await this.#write();
    if (this.#waitsForMore()) return;
    while (this.#turns.length > 0) {
      await this.#summarise(this.#together());
      await this.#write();
    }
  }

  /** True while there are too few messages. A turn that was tried before does not wait. */
  #waitsForMore(): boolean {
    const messages = this.#turns.reduce((sum, turn) => sum + turn.messages.length, 0);
    return messages < this.#options.minMessages && !this.#turns.some(({ late }) => late);
  }

  /** The first turns of one place that fit into one prompt. */
  #together(): Turn[] {
    const [first, ...others] = this.#turns;
    if (first === undefined) return [];
    let room = ROOM - transcriptOf(first.messages).length;
    const end = others.findIndex(
      ({ cwd, messages }) => cwd !== first.cwd || (room -= transcriptOf(messages).length) < 0,
    );
    return [first, ...(end < 0 ? others : others.slice(0, end))];
  }

  async #summarise(turns: readonly Turn[]): Promise<void> {
    try {
      this.#keep(turns, await this.#bodiesOf(turns));
    } catch (error) {
      for (const turn of turns) turn.late = true;
      const newest = this.#turns.at(-1);
      if (newest === undefined || this.#turns.length === 1) throw error;
      // One turn may be the cause. If the newest succeeds alone, the others follow one by one.
      this.#keep([newest], await this.#bodiesOf([newest]));
      for (const turn of turns) if (turn !== newest) await this.#alone(turn);
      await this.#write();
      throw error;
    }
  }

  /** Summarises a turn alone, while the model succeeds with others. */
  async #alone(turn: Turn): Promise<void> {
    try {
      return this.#keep([turn], await this.#bodiesOf([turn]));
    } catch {
      // The cause of the common failure is reported elsewhere.
      turn.failures++;
    }
    if (turn.failures < MOST_FAILURES) return;
    const text = `Not summarised: ${transcriptOf(turn.messages).slice(0, EXCERPT).toWellFormed().replaceAll("\0", "")}`;
    this.#keep([turn], [await episodeBody(text, turn, turn.at)]);
  }

  /** Moves turns from the queue of the model to that of Cairn. */
  #keep(turns: readonly Turn[], bodies: RememberBody[]): void {
    this.#turns = this.#turns.filter((turn) => !turns.includes(turn));
    if (bodies.length > 0) this.#writes.push({ turns, bodies, idempotencyKey: newId() });
  }

  async #bodiesOf(turns: readonly Turn[]): Promise<RememberBody[]> {
    const { llm, llmWithinMs } = this.#options;
    const last = turns.at(-1);
    if (last === undefined) return [];
    const transcript = shortened(transcriptOf(turns.flatMap(({ messages }) => messages)), ROOM);
    const signal = AbortSignal.timeout(llmWithinMs);
    // Does not wait for a model that ignores its signal.
    const answer = await unlessAborted(signal, llm({ system: SYSTEM, prompt: promptOf(transcript), signal }));
    const { summary, facts } = extractionOf(answer);
    const episode = summary === "" ? [] : [await episodeBody(summary, last, last.at)];
    const found = { kind: "fact" as const, source: { extractor: "dex" } };
    // A late fact dates from its turn, so that it does not replace a newer one.
    const since = last.late ? { createdAt: last.at } : {};
    return [...episode, ...facts.map((fact) => ({ ...found, ...fact, ...since }))];
  }

  /** Stores the queued writes in order: the last value of a fact wins. */
  async #write(): Promise<void> {
    const { memory, user, onError } = this.#options;
    for (let next = this.#writes[0]; next !== undefined; next = this.#writes[0]) {
      try {
        await memory.memories.rememberMany(user, next.bodies, {
          idempotencyKey: next.idempotencyKey,
          trust: "model",
          adapter: "dex",
        });
      } catch (error) {
        // A write that Cairn always refuses must not block the next ones.
        if (!isCairnError(error) || (error.status !== 400 && error.status !== 413)) throw error;
        onError(error);
      }
      this.#writes.shift();
    }
  }
}
