import type { FactWords, LanguageForm, StatementWords, WritingWords } from "./memory-words.ts";

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
  /** Greetings, thanks, assent, apologies, farewells: a chat message of these alone has no topic. Those of English are in `recall`. */
  pleasantries?: string;
  /** Words without spaces that hold a shorter word of another meaning: that one is not seen in them. */
  compounds?: string;
  /** Letters that are attached before a word: "and". */
  prefixes?: string;
  /** Words of which a message has to have one to state such a fact, by the beginning of an English predicate. */
  shows?: Readonly<Record<string, string>>;
  /** The words by which a recall reads the language. */
  recall?: RecallWords;
  standing?: StandingWords;
  writing?: WritingWords;
  /** How a sentence states a fact of its speaker. */
  statements?: StatementWords;
  facts?: FactWords;
  forms?: readonly LanguageForm[];
};

/** The kinds of values that a later instruction replaces. */
export const standingValues = [
  "language",
  "variety",
  "address",
  "measures",
  "temperature",
  "clock",
  "length",
  "manner",
] as const;
/** The words of standing instructions and preferences, as parts of expressions. */
export type StandingWords = {
  /** Of each kind, values of which one holds at a time; the name that follows "call me" is one. Folded. */
  values: { [Kind in (typeof standingValues)[number]]?: string };
  /** A list: words of an instruction that do not say what it is about. Folded. */
  noMatter: string;
  /** Begins to say when an instruction holds. */
  conditions: string;
  /** Says what is not to be. Folded. */
  against: string;
  /** Before an order: "please", "and", "I want you to". */
  frames: string;
  /** They make an order of a question: "can you". */
  requests: string;
  /** Between a reason and its order: "so", "please". */
  therefore: string;
  /** Before a verb alone, they order: "always", "never". */
  always: string;
  /** Times that do not end, before or behind an order: "from now on". */
  onwards: string;
  /** Verbs that order what an assistant does, if they are no whole words. */
  orders?: string;
  /** A list: such verbs. */
  verbs: string;
  /** Stands before what an instruction is about: "when I ask". */
  topics: string;
  /** Whole orders that hold without such a word: "stop using", "keep your answers". */
  plainly: string;
  /** Begins a preference; what follows it, to the end of the clause, is preferred. */
  prefers: string;
  /** The end of a preference: a question or a remark behind it. */
  ends: string;
};

/** A part of an expression each: how a question asks for such an answer, and how a text looks that has one. */
type AnswerPart = { asks: string; has?: string };
export type AnswerWords = Readonly<
  Record<
    | "money"
    | "age"
    | "email"
    | "phone"
    | "spouse"
    | "birthday"
    | "code"
    | "measure"
    | "duration"
    | "frequency"
    | "time"
    | "colour"
    | "person"
    | "cause"
    | "fault",
    AnswerPart
  >
>;

/**
 * The words by which a recall reads questions and texts. Most are parts of expressions, parted by "|". A list has words parted by
 * spaces; in one of rows, these are parted by commas.
 */
export type RecallWords = {
  /** A list: words that say how a question is put, not what it is about. */
  stop?: string;
  /** A list: words that are about the conversation: a greeting, a thank you, a request. */
  courtesy?: string;
  /** A list: words that say nothing by themselves. */
  fillers?: string;
  /** A list: words that say nothing beside a courtesy ("Good morning", "have a great weekend"), and by themselves name a time. */
  times?: string;
  /** A list: words that express a feeling. A text that begins with one ("oops, wrong window") asks for nothing. */
  exclaims?: string;
  /** A list: words that agree, cheer or part. */
  agrees?: string;
  /** A list: words that say nothing beside those that agree: "great work", "makes sense", "happy Friday". */
  beside?: string;
  /** A list: words of greetings, thanks, assent, judgements and farewells, besides those that a query is searched without. */
  pleasant?: string;
  /** A list: further words that are no topic of a chat message: they judge, tell a mood, or are about the talk or the weather. */
  remarks?: string;
  /** A list: words that say nothing about a fact. */
  empty?: string;
  /** Parts of expressions, parted by commas: endings behind a word that say nothing about a fact, and the one of an owner. */
  endings?: string;
  ownerEnd?: string;
  /** A list: the numbers from zero on. */
  numerals?: string;
  /** Words that are topics by themselves, in an expression that is none: "great work". */
  sayings?: string;
  /** A greeting, thanks or a farewell before a name; what may stand between the two; what is no name. */
  greetings?: string;
  afterGreeting?: string;
  noName?: string;
  /** Questions and remarks that are made for the sake of the talk, or about the assistant. */
  social?: string;
  /** A list: with one of these, a question has a topic; a list: so has a sentence that begins with one. */
  asksTopic?: string;
  whoOrWhen?: string;
  /** Rows: a contraction, and the words that it is made of. */
  contractions?: string;
  /** Rows: verbs whose forms share no stem, a verb a row. */
  irregular?: string;
  /** Rows: words for a person by what they are to the speaker. Those of a row may mean the same person; others do not. */
  relatives?: string;
  /** Their endings of plurals. */
  relativeEnds?: string;
  /** Stands before the relative whom a statement is about. */
  ownOfRelative?: string;
  /** A list: a question begins with one of these, and is no chatter. */
  asking?: string;
  /** A list: further words before which a request ends. */
  asksWithRequest?: string;
  /** A list: words that follow a request before what is asked for. */
  afterRequest?: string;
  /** A list: without one of these, "Did Ann remember …" is no request. */
  requesting?: string;
  /** "Hi there, …", "Dear Ann, …". */
  salutations?: string;
  /** Courtesy at the end of a sentence. */
  politeEnds?: string;
  /** Of a query about what was asked before: then a question is an answer. */
  questions?: string;
  /** Of a query about what the assistant said: then its answer is more likely than what the user said. */
  advice?: string;
  /** Of a query about what was so before. */
  past?: string;
  /** Asks for a time, at the beginning of a clause. A "when" inside a sentence does not ask. */
  asksTime?: string;
  tellsTime?: string;
  /** Somebody rather than the world: "my", "she". */
  persons?: string;
  /** Begins a task that is done with what the message says. */
  tasks?: string;
  /** Verbs that begin a question for yes or no. */
  yesOrNo?: string;
  /** Opens a question, or a request that is put as one. */
  opens?: string;
  /** Asks at the end of a text of a few words: "gate code pls". */
  asksAtEnd?: string;
  /** Asks behind a pause in one: "gala - what to wear". */
  asksBehind?: string;
  /** An assistant says that it knows nothing: "I have no information about …", "there is no … in what you told me". */
  denials?: string;
  /** Knowing and telling: a denial with one, between the two, is about the conversation. */
  knowing?: string;
  betweenThem?: string;
  /** Begins the part of a question that states something: "…, since she can't have nuts". */
  reasons?: string;
  /** Begins the part that says why the speaker asks: "…, I'm standing outside". */
  excuses?: string;
  /** Verbs that state something before a question: "My sister is coeliac, what …?". */
  states?: string;
  /** Begins that question. */
  asksNext?: string;
  /** A change in a statement. */
  changes?: string;
  /** A correction, which need not repeat the matter. */
  corrects?: string;
  /**
   * A supposition: "If they say no, we'd sell it"; or still open: "They haven't paid". An instruction ("if it rains, close it") is
   * neither.
   */
  supposes?: string;
  /** Stands before what may have ended: "Do I still drink coffee?". */
  still?: string;
  /** The speaker about themselves. */
  own?: string;
  /** "I can" answers "who can?". */
  speakers?: string;
  /** Begins a question for a person. */
  who?: string;
  /** Verbs of saying: anything may answer "who said that …?". */
  reports?: string;
  /** A statement about somebody by name: "Tom has moved: his address …". With its capitals. */
  ofNamed?: string;
  /** Begins a memory for the speaker, and before a thing of theirs. With its capitals. */
  theUser?: string;
  theUsers?: string;
  /** The same as the speaker says it. */
  my?: string;
  /** Stands before a thing and says whose it is. */
  owners?: string;
  /** A verb that looks like one: "what's". */
  notOwners?: string;
  /** A list: the owner may be named before it. */
  ownerPronouns?: string;
  /** A list: the speaker as an owner. */
  ownOwners?: string;
  /** A list: such a word may mean a company or a family in a question, and is no owner there. */
  sharedOwners?: string;
  answers?: AnswerWords;
  /** A day or an hour, whose number is no amount: "12 January", "at 8:15", "between 8 and 12". */
  ofDay?: string;
  /** Units of measures, behind a number that is no money. */
  units?: string;
  /** Behind a number that is no age. */
  notYears?: string;
};
