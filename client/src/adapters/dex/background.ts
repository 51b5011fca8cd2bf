import { newId } from "../../new-id.ts";
import { isCairnError } from "../../error.ts";
import type { Cairn, CallOptions, RememberBody } from "../../index.ts";
import { episodeBody, type Place } from "./episodes.ts";
import { extractionOf, promptOf, SYSTEM } from "./extraction.ts";
import { shortened, transcriptOf } from "./messages.ts";
import type { DexMemoryOptions, DexMessage } from "./types.ts";

/**
 * What was said in one turn, where and when. `late`: it was tried before. `failures`: how often the model could not
 * summarise it while it could another.
 */
type Turn = Place & { messages: readonly DexMessage[]; at: number; late: boolean; failures: number };
/** What is to be stored of some turns: in one call, that happens once however often it is sent. */
type Write = { turns: readonly Turn[]; bodies: RememberBody[]; idempotencyKey: string };

/** Characters of what was said that one prompt holds; one turn always goes out, without its middle if need be. */
const ROOM = 48_000;
/** A turn that the model cannot summarise so often, while it can others, is kept as the user began it. */
const MOST_FAILURES = 3;
const EXCERPT = 500;

type BackgroundOptions = {
  memory: Cairn;
  user: string;
  llm: NonNullable<DexMemoryOptions["llm"]>;
  llmWithinMs: number;
  /** Fewer messages wait for more. */
  minMessages: number;
  onError: (error: unknown) => void;
};

/** Summarises turns one after the other while the conversation goes on. What fails is tried again with the next turn. */
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

  /** Takes a turn, and returns at once. */
  add(turn: Omit<Turn, "late" | "failures">): void {
    // Two turns of one millisecond have an order, too.
    this.#last = Math.max(turn.at, this.#last + 1);
    this.#turns.push({ ...turn, at: this.#last, late: false, failures: 0 });
    void this.#begin();
  }

  get pending(): readonly DexMessage[] {
    const written = this.#writes.flatMap(({ turns }) => turns);
    return [...written, ...this.#turns].flatMap(({ messages }) => messages);
  }

  /** Waits for what runs, and for one more try of what that left. */
  async settle({ signal }: CallOptions = {}): Promise<void> {
    await unless(signal, this.#running ?? Promise.resolve());
    if (this.pending.length > 0) await unless(signal, this.#begin());
  }

  #begin(): Promise<void> {
    this.#asked = true;
    if (this.#running !== null) return this.#running;
    const running = this.#run();
    this.#running = running;
    // A Worker stays alive for it; what fails has been told.
    this.#options.memory.later(() => running);
    return running;
  }

  async #run(): Promise<void> {
    // Never within the call that adds the turn.
    await Promise.resolve();
    try {
      // A turn that came while another failed is the next one, with which that is tried again.
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

  /** Whether there are too few messages yet. What was tried before is tried again, however few are left of it. */
  #waitsForMore(): boolean {
    const messages = this.#turns.reduce((sum, turn) => sum + turn.messages.length, 0);
    return messages < this.#options.minMessages && !this.#turns.some(({ late }) => late);
  }

  /** The first turns of one place that one prompt has room for. */
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
      // It may be one of them that the model cannot do. If it can do the newest, it is.
      this.#keep([newest], await this.#bodiesOf([newest]));
      for (const turn of turns) if (turn !== newest) await this.#alone(turn);
      await this.#write();
      throw error;
    }
  }

  /** A turn by itself, while the model can do others. */
  async #alone(turn: Turn): Promise<void> {
    try {
      return this.#keep([turn], await this.#bodiesOf([turn]));
    } catch {
      // Why they failed together has been told, or will be.
      turn.failures++;
    }
    if (turn.failures < MOST_FAILURES) return;
    const text = `Not summarised: ${transcriptOf(turn.messages).slice(0, EXCERPT).toWellFormed().replaceAll("\0", "")}`;
    this.#keep([turn], [await episodeBody(text, turn, turn.at)]);
  }

  /** From here on it is Cairn that these turns wait for. */
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
    // A model that does not heed its signal holds up nothing either.
    const answer = await unless(signal, llm({ system: SYSTEM, prompt: promptOf(transcript), signal }));
    const { summary, facts } = extractionOf(answer);
    const episode = summary === "" ? [] : [await episodeBody(summary, last, last.at)];
    const found = { kind: "fact" as const, source: { extractor: "dex" } };
    // What is found late was true when it was said, and does not take the place of what was said since.
    const since = last.late ? { createdAt: last.at } : {};
    return [...episode, ...facts.map((fact) => ({ ...found, ...fact, ...since }))];
  }

  /** Stores what waits, in its order: a fact that changed twice is what it was last. */
  async #write(): Promise<void> {
    const { memory, user, onError } = this.#options;
    for (let next = this.#writes[0]; next !== undefined; next = this.#writes[0]) {
      try {
        await memory.memories.rememberMany(user, next.bodies, { idempotencyKey: next.idempotencyKey });
      } catch (error) {
        // What Cairn will never take must not hold up all that comes after it.
        if (!isCairnError(error) || (error.status !== 400 && error.status !== 413)) throw error;
        onError(error);
      }
      this.#writes.shift();
    }
  }
}

/** The promise's outcome, or the reason of the signal if that comes first. */
function unless<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    // A reason is whatever the caller gave to `abort`; a rejection wants an Error.
    const aborted = () => reject(signal.reason as Error);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}
