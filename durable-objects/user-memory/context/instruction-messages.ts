import type { ContextItem, Instruction, NumberedPlace } from "../../../src/domain/context/item.ts";
import { latestInstructions, wordsOf } from "../../../src/domain/context/latest-instructions.ts";
import { isOfOwner, type Speakers, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { day, oneLine } from "../../../src/domain/conversation/stored-text.ts";
import { hash32 } from "../../../src/domain/hash.ts";
import { seqOf } from "../core/position.ts";
import { type Document, withoutSpeaker } from "../search-index/documents.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";

/** Messages with instructions or preferences that the layer reads at once, until it has so many wordings or has read the most. */
const [AT_ONCE, MOST] = [64, 512];

type InstructionItem = ContextItem & { instruction: Instruction; place: NumberedPlace };

/** Reads the instructions and preferences that the user's messages have. */
export class InstructionMessages {
  readonly #stores: ThreadStores;
  readonly #messages: ThreadMessages;

  constructor({ stores, messages }: { stores: ThreadStores; messages: ThreadMessages }) {
    this.#stores = stores;
    this.#messages = messages;
  }

  /** The instructions that hold, then the preferences, the newest first. */
  holding(): ContextItem[] {
    const { documents, items } = this.#read();
    const holding = Map.groupBy(latestInstructions(items), ({ place }) => place.n);
    return documents.flatMap(({ n }) => holding.get(n) ?? []);
  }

  /**
   * The passages of a message that hold from then on, if it is still the owner's: another name in its thread may have changed that.
   * `speakersOf`: those of a thread, of which a call may show many messages.
   */
  in(document: Document, thread: string, speakersOf = this.#speakers()): InstructionItem[] {
    const { role, name } = document.message ?? {};
    const speakers = name === undefined ? null : speakersOf(thread);
    return isOfOwner({ role, name }, speakers ?? UNNAMED) ? itemsIn(document, thread) : [];
  }

  /** An app may send one instruction with each message: others are behind it. `items`: the newest first. */
  #read(): { documents: readonly Document[]; items: readonly InstructionItem[] } {
    const documents: Document[] = [];
    const speakersOf = this.#speakers();
    for (;;) {
      const page = this.#stores.documents.standing(AT_ONCE, documents.length);
      documents.push(...page);
      const threads = this.#messages.threadsOf(documents.map(({ n }) => n));
      const items = documents
        .toSorted((a, b) => b.createdAt - a.createdAt || b.n - a.n)
        .flatMap((document) => {
          const id = threads.get(document.n);
          return id === undefined ? [] : this.in(document, id, speakersOf).toReversed();
        });
      const wordings = new Set(items.map(({ instruction }) => wordsOf(instruction.text)));
      if (page.length < AT_ONCE || documents.length >= MOST || wordings.size >= AT_ONCE)
        return { documents, items };
    }
  }

  /** Reads the speakers of each thread once. */
  #speakers(): (thread: string) => Speakers | null {
    const known = new Map<string, Speakers | null>();
    return (thread) => {
      if (!known.has(thread)) known.set(thread, this.#stores.threads.get(thread)?.speakers ?? null);
      return known.get(thread) ?? null;
    };
  }
}

/** The passages of a message that hold from then on, in its order. */
function itemsIn({ n, text, createdAt, standing, message }: Document, thread: string): InstructionItem[] {
  const whole = withoutSpeaker(text, message).trim();
  return (standing ?? []).map((passage) => {
    const own = text.slice(...passage);
    return {
      id: `${thread}:${seqOf(n)}`,
      place: { n, passage, standing: own === whole ? "whole" : "part", hash: hash32(own) },
      shown: { text: `${oneLine(own)} (${day(createdAt)})` },
      instruction: { text: own, at: createdAt },
    };
  });
}
