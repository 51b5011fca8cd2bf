/**
 * The words by which an ingest reads a language, about a dozen of a kind: a speaker can correct them without reading code. Words and
 * phrases in lower case, parted by commas. "*" stands for any letters. A word with marks on its letters counts without them too, as
 * people type them, and a word without marks not with them: "si" is no "sí".
 */
export type LanguageWords = {
  /** Words that nearly every text has: they tell the language. */
  common: string;
  /** The speaker as the one who does something: "I", and verbs that say it by themselves. */
  self: string;
  /** The same with others: "we". They may be a team or a family of the speaker's. */
  plural: string;
  /** What is the speaker's: "my". */
  whose: string;
  /** Nouns that say something of the speaker after "my": "name". After any other noun, something is said of that. */
  traits: string;
  you: string;
  /** Others: pronouns, and persons of somebody's life. */
  others: string;
  /** Verbs of others that everybody uses: "is". */
  third: string;
  /** Endings of verbs of others. Behind the first word of a sentence, they tell that that is a name. */
  theirs?: string;
  /** Endings of verbs in the past, whoever does it. */
  did?: string;
  /** Begins a question, also without its mark. */
  asks: string;
  denies: string;
  /** Words beside a denial that stands alone: "no longer". */
  now: string;
  /** Words that put what the speaker is and does into the past. */
  past: string;
  /** A contrast: it ends what a denial before or behind it denies, and what others say and what is supposed: "but". */
  turns: string;
  /** Ends what a denial before or behind it denies, and nothing else: "because". */
  causes: string;
  /** Denies all of its clause, wherever it stands: "under no circumstances". */
  never?: string;
  /** Begins what is said of a noun before it: "a dog that never barks". */
  relates?: string;
  /** Before the past, it leaves what stands before that of now: "since I was a kid". */
  since?: string;
  /** The speaker as the one of whom something is not said: "everyone but me". */
  excepts?: string;
  /** Words between a speaker and a verb: "once". */
  adverbs?: string;
  /** Ends what a denial behind it denies: "and". */
  joins: string;
  /** Conditions, doubts, wishes and plans. */
  supposes: string;
  /** What somebody says: "says", "rumour". */
  reports: string;
  /** Sets up an invented person or world, which holds for later messages too. */
  scenes: string;
  /** Ends a scene, and work on texts that come: "back to me". */
  ends: string;
  /** Hands over a text to be worked on: "translate". */
  hands: string;
  /** Names of texts: after a colon behind one, the text follows. */
  texts: string;
  /** Before a colon, they leave the rest the user's own: "by the way". */
  frames: string;
  /** Said afterwards: takes it back, or makes it a text. */
  undoes: string;
  /** Said afterwards, before a name: it is about that one. */
  points: string;
  /** Orders to a memory or an assistant, at the beginning of a clause. */
  orders: string;
  /** The memory, and who may command it. */
  memory: string;
  /** The user and the assistant, as a text about them names them. */
  roles: string;
  /** Names of what nobody should store: "password". */
  secrets: string;
  /** Greetings, thanks, assent, apologies, farewells: a chat message of these alone has no topic. English has `smallTalk`. */
  pleasantries?: string;
  /** Words without spaces that hold a shorter word of another meaning: that one is not seen in them. */
  compounds?: string;
  /** Letters that are attached before a word: "and". */
  prefixes?: string;
  /** Words of which a message has to have one to state such a fact, by the beginning of an English predicate. */
  shows?: Readonly<Record<string, string>>;
};
