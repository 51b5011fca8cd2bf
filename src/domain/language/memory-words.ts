/** Properties of a language that are no words. */
export type LanguageForm =
  /** A denial stands behind what it denies. */
  | "deniesLast"
  /** Names have cases, and letters of an ending. */
  | "declinesNames"
  /** Every noun has a capital letter, so that this tells no name. */
  | "capitalizesNouns"
  /** A semicolon ends a question. */
  | "asksWithSemicolon";

/** The words by which a written text is parted. All but `withSlash` are parts of expressions, parted by "|". */
export type WritingWords = {
  /** A point behind one does not end a sentence: "Mr". */
  abbreviations?: string;
  /** Begins a line of a mail's header, before a colon: "subject". */
  headers?: string;
  /** Begins a line of a chat or of a list of facts that is pasted, before a colon: "assistant". */
  chatNames?: string;
  /** The name of a writer who has none: "human". */
  roleNames?: string;
  /** Small words of people's names: "of". */
  inNames?: string;
  /** Stands between two clauses: "but". */
  betweenClauses?: string;
  /** Words with a slash that are no path. */
  withSlash?: string;
};

/**
 * A sentence that states a fact of its speaker. `says`: an expression, with <name>, <place> or <value> for these; its last group is the
 * object. `predicate`: <noun> stands for its first group. `isDoubtful`: the words may mean something else, or what they state changes
 * in words that no pattern knows ("we left Ghent"): the sentence is kept, with its date, and no triple.
 */
export type StatementPattern = { says: string; predicate: string; isDoubtful?: true };
export type StatementWords = {
  /** The most exact one first. */
  patterns: readonly StatementPattern[];
  /** A part of an expression: words that end a value: "because". */
  endsOfValue: string;
  /** The same: small words in the names of places: "upon". */
  inPlaces?: string;
  /** The same: ends a speaker with a verb: "I've". */
  verbEnds?: string;
};

/**
 * The words by which facts are compared. A list has words parted by spaces, and one of rows has words in rows parted by commas. A
 * predicate is English, whatever language its message is in: a predicate in other words has only these words.
 */
export type FactWords = {
  /** Lists: words that leave a predicate as it is. */
  articles: string;
  adverbs: string;
  /** A list: forms of "be". One before an article or before a word in -ing says nothing. */
  be: string;
  /** A list: words that only hold a denial. */
  do: string;
  /** Rows: an irregular form, and its verb. */
  irregular: string;
  /** A part of an expression: says that this is not so, or no longer. */
  denials: string;
  /** The same: belongs to a denial: "any longer". */
  more: string;
  /** The same: before a verb in -ing, it denies the verb; it says the verb. */
  stops: string;
  starts: string;
  /** Verbs of two sides. A subject's objects of one side are none of the other's: who dislikes olives no longer likes them. */
  opposites: readonly (readonly [string, string])[];
  /** A part of an expression: denies an object. */
  deniesObject: string;
  /** The same: leaves an object as it is. */
  beforeObject: string;
  /** A list: the object is then a time or a place of two events, which both are true: "starts on" and "stops on" Monday. */
  beforeTime: string;
  /** A list: nouns of which a subject has one at a time. A plural is another word: "favourite colours" are several. */
  oneNouns: string;
  /** A list: before such a noun, or after its "of", it leaves it one: "home city", "date of birth". Not "pet name". */
  besideNouns: string;
  /** A list: makes the singular after it one: "favourite film". */
  foremost: string;
  /** Predicates with one object at a time, without a form of "be", by the inflection of their words. Parted by commas. */
  oneVerbs: string;
  /** A list: verbs before a noun. */
  present: string;
  /** A list: words of what is over, unless one of the next list makes it a birth or a name: "was married to", "was born in". */
  past: string;
  lasting: string;
  /** A list: words behind a noun that leave it the last one. */
  after: string;
  /** A list: as the last word, it makes the noun before it the subject's own part: "is mother of". Behind a first word, no noun follows. */
  links: string;
  /** A list: plurals without -s. */
  plurals: string;
  /** Rows: words that say the same about a person, by the first of a row. */
  synonyms: string;
  /** A list: words of a statement that only say whose it is. */
  ownerWords: string;
};
