import type { ContextItem, NumberedPlace } from "../../../src/domain/context/item.ts";
import { withoutReplaced, wordsOf } from "../../../src/domain/context/replaced-standing.ts";
import { isOfOwner, type Speakers, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { day, oneLine } from "../../../src/domain/conversation/stored-text.ts";
import { hash32 } from "../../../src/domain/hash.ts";
import { seqOf } from "../core/position.ts";
import { type Document, withoutSpeaker } from "../search-index/documents.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";

/** Messages with instructions or preferences that the layer reads at once, until it has so many wordings or has read the most. */
const [STANDING, STANDING_MOST] = [64, 512];

type StandingItem = ContextItem & { said: string; place: NumberedPlace };
type SpeakersById = Map<string, Speakers | null>;

/** Reads the instructions and preferences that the user's messages have. */
export class StandingMessages {
  readonly #stores: ThreadStores;
  readonly #messages: ThreadMessages;

  constructor({ stores, messages }: { stores: ThreadStores; messages: ThreadMessages }) {
    this.#stores = stores;
    this.#messages = messages;
  }

  /** The instructions that hold, then the preferences, the newest first. */
  holding(): ContextItem[] {
    const { documents, items } = this.#read();
    const holding = Map.groupBy(withoutReplaced(items), ({ place }) => place.n);
    return documents.flatMap(({ n }) => holding.get(n) ?? []);
  }

  /** The passages of a message that hold from then on, if it is still the owner's: another name in its thread may have changed that. */
  in(document: Document, thread: string, read: SpeakersById = new Map()): StandingItem[] {
    const { role, name } = document.message ?? {};
    const speakers = name === undefined ? null : this.#speakersOf(thread, read);
    return isOfOwner({ role, name }, speakers ?? UNNAMED) ? standingItems(document, thread) : [];
  }

  /** An app may send one instruction with each message: others are behind it. `items`: the newest first. */
  #read(): { documents: readonly Document[]; items: readonly StandingItem[] } {
    const documents: Document[] = [];
    const read: SpeakersById = new Map();
    for (;;) {
      const page = this.#stores.documents.standing(STANDING, documents.length);
      documents.push(...page);
      const threads = this.#messages.threadsOf(documents.map(({ n }) => n));
      const items = documents
        .toSorted((a, b) => b.createdAt - a.createdAt || b.n - a.n)
        .flatMap((document) => {
          const id = threads.get(document.n);
          return id === undefined ? [] : this.in(document, id, read).toReversed();
        });
      const wordings = new Set(items.map(({ said }) => wordsOf(said)));
      if (page.length < STANDING || documents.length >= STANDING_MOST || wordings.size >= STANDING)
        return { documents, items };
    }
  }

  /** The speakers of a thread. `read`: those of a call, which may show many messages of one. */
  #speakersOf(id: string, read: SpeakersById): Speakers | null {
    const known = read.get(id);
    const speakers = known === undefined ? (this.#stores.threads.get(id)?.speakers ?? null) : known;
    read.set(id, speakers);
    return speakers;
  }
}

/** The passages of a message that hold from then on, in its order. */
function standingItems({ n, text, createdAt, standing, message }: Document, thread: string): StandingItem[] {
  const whole = withoutSpeaker(text, message).trim();
  return (standing ?? []).map((passage) => {
    const said = text.slice(...passage);
    return {
      id: `${thread}:${seqOf(n)}`,
      place: { n, passage, standing: said === whole ? "whole" : "part", hash: hash32(said) },
      shown: { text: `${oneLine(said)} (${day(createdAt)})` },
      saidAt: createdAt,
      said,
    };
  });
}
