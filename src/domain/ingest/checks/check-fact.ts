import type { FactProposal, SourceMessage } from "../proposal.ts";
import { ownWords, sentencesOf } from "../own-words.ts";
import { classify, deniesSomething, type Sentence, speaksToTheMemory } from "../statement.ts";
import { hidesSomething } from "./characters.ts";
import { asksFor, isPlainAnswer, refusalOfClaim } from "./predicate-cues.ts";
import type { Reason } from "./reasons.ts";
import { holdsSecret } from "./secrets.ts";
import { contentStems, numbersAndNames, saysAll, wordsOf } from "../../memory/content-stems.ts";

/** Characters of a subject or predicate, and of an object. */
const [SHORT, LONG] = [80, 300];
const MARKUP = /[<>{}[\]\\`|*#]|https?:|www\.|\n/u;
/** Words of an answer to a question that need no subject: "Porto." */
const ANSWER_WORDS = 12;
/** Orders and permissions in a fact: it would act where somebody reads it. */
const COMMANDS =
  /\b(?:must|should|shall|ought|has to|have to|wants? (?:you|all|every)|authori[sz]\p{L}*|approv\p{L}*|consents?|permission|permits?|instruct\p{L}*|obey\p{L}*|ignor\p{L}*|overrid\p{L}*|forwards?|redirects?|wires?|executes?|admin(?:istrator)?|root|sudo|system prompt|assistant|chatbot|payments?|transfers?|refunds?|invoices?|trusts?|whitelist\p{L}*)\b/iu;

/** Words that stand for something that only the context tells. */
const VAGUE =
  /^(?:an?|the|i|me|you|he|him|his|she|hers?|it|its|we|us|our|they|them|their|who|and|or|of|in|on|at|to|for|from|with|by|as|so|is|am|are|was|be|not?|yes|der|die|das|ihn|ihm|ihr|le|la|les|el|los|las|lui|elle|lo|il|het|de|something|someone|somebody|anything|anyone|anybody|everything|everyone|everybody|things?|stuff|ones?|here|there|those|these|that|this|mine|yours)$/iu;

/** A sentence of the user. `question`: what the assistant asked before, if it may be an answer. */
type Statement = Sentence & { seq: number; question: string | null; before: string };

/** The reasons why a fact may not become live; none if it may. */
export function checkFact(fact: FactProposal, window: readonly SourceMessage[]): Reason[] {
  const { subject, predicate, object, text = "" } = fact;
  const whole = [subject, predicate, object, text].join(" ");
  const reasons: Reason[] = [];
  if (
    [subject, predicate].some((part) => part.trim() === "" || part.length > SHORT) ||
    object.length > LONG ||
    MARKUP.test(whole)
  )
    reasons.push("malformed");
  if (holdsSecret(whole)) reasons.push("secret");
  const talk = [subject, predicate, object].join(" ");
  const aboutUser = [talk, text].map((part) => withoutSubject(part, subject)).join("\n");
  if (COMMANDS.test(whole) || speaksToTheMemory(aboutUser)) reasons.push("instruction");
  const cited = window.filter(({ seq }) => fact.sources.includes(seq));
  if (hidesSomething(whole) || cited.some(({ text: said }) => hidesSomething(said)))
    reasons.push("hidden_characters");
  return [...reasons, ...support(fact, cited, window)];
}

/** A fact about the user names the user: that alone is no talk about the memory. */
const withoutSubject = (whole: string, subject: string): string =>
  /^(?:the )?user(?:['’]s)?\b/iu.test(subject) ? whole.replace(/^(?:the )?user(?:['’]s)?/iu, "") : whole;

/** The reasons that follow from the cited messages. One sentence of the user has to state the fact. */
function support(
  fact: FactProposal,
  cited: readonly SourceMessage[],
  window: readonly SourceMessage[],
): Reason[] {
  const said = cited.filter(({ role }) => role === "user");
  if (said.length === 0) return ["not_said_by_user"];
  const { subject, predicate, object, text = "" } = fact;
  const isUser = /^(?:the )?user$/iu.test(subject.trim());
  const others = subject.replace(/^(?:the )?user['’]s\s+/iu, "");
  const named = [object, ...(isUser ? [] : [others]), ...numbersAndNames(`${predicate} ${text}`)].join(" ");
  if (!tellsSomething(object) || !said.some((message) => saysAll(message.text, named)))
    return ["not_in_source"];
  const statements = said.flatMap((message) => statementsOf(message, window));
  const naming = statements.filter((sentence) => saysAll(sentence.text, object));
  if (naming.length === 0) return ["not_own_words"];
  const verdicts = naming.map((sentence) => refusalOf(sentence, fact, { isUser, statements, others }));
  const stating = naming.filter((_, i) => verdicts[i] === null);
  if (stating.length === 0) return [...new Set(verdicts.flatMap((reason) => reason ?? []))];
  return refusalsOfText(fact, stating);
}

/** True if an object has a word that names something: no pronoun, article or picture. */
const tellsSomething = (object: string): boolean => wordsOf(object).some((word) => !VAGUE.test(word));

/** The text of a fact says no more than the sentences that state the fact, and denies nothing else. */
function refusalsOfText(
  { subject, predicate, object, text = "" }: FactProposal,
  stating: readonly Statement[],
): Reason[] {
  const triple = `${subject} ${predicate} ${object}`;
  const said = [triple, "user", ...stating.map((sentence) => sentence.text)].join(" ");
  const known = new Set(contentStems(said));
  if (!contentStems(text).every((word) => known.has(word))) return ["not_in_source"];
  return deniesSomething(text) && !deniesSomething(triple) ? ["negated"] : [];
}

/** The sentences of a user's message in the user's own words. */
function statementsOf({ seq, text }: SourceMessage, window: readonly SourceMessage[]): Statement[] {
  const own = ownWords(text);
  const sentences = sentencesOf(own);
  const before = window.findLast((message) => message.seq < seq);
  const isAnswer =
    before?.role === "assistant" &&
    /[?？]\s*$/u.test(before.text.trim()) &&
    own.trim() === text.trim() &&
    sentences.length <= 2 &&
    wordsOf(text).length <= ANSWER_WORDS;
  const question = isAnswer ? (sentencesOf(before.text).at(-1) ?? null) : null;
  return sentences.map((sentence, i) => ({
    ...classify(sentence),
    seq,
    question,
    before: sentences[i - 1] ?? "",
  }));
}

type Said = { isUser: boolean; statements: readonly Statement[]; others: string };

/** Why a sentence that has the object's words does not state the fact; null if it does. */
function refusalOf(sentence: Statement, { predicate, object }: FactProposal, said: Said): Reason | null {
  if (sentence.isInstruction) return "instruction";
  if (sentence.isQuestion || sentence.isHypothetical) return "not_stated";
  if (sentence.isReported) return "not_own_words";
  const subject = said.isUser ? null : said.others;
  const claim = { predicate, object, subject };
  if (
    sentence.question !== null &&
    sentence.isNegated === deniesSomething(`${predicate} ${object}`) &&
    asksFor(claim, sentence.question) &&
    isPlainAnswer(sentence.text, object)
  )
    return null;
  if (said.isUser) return sentence.isFirstPerson ? refusalOfClaim(claim, sentence.text) : "not_first_person";
  if (!isRelated(sentence, said)) return "not_about_user";
  if (saysAll(sentence.text, said.others)) return refusalOfClaim(claim, sentence.text);
  return isOnlySubject(sentence.before, said.others)
    ? refusalOfClaim({ ...claim, subject: "it" }, sentence.text)
    : "not_about_user";
}

/** True if a sentence names the subject and nobody else: "My sister called." before "She lives in Rome." */
const isOnlySubject = (sentence: string, others: string): boolean =>
  saysAll(sentence, others) &&
  numbersAndNames(sentence).every((word) => saysAll(others, word)) &&
  (sentence.match(/\b(?:my|our|his|her|their|the|an?)\b/giu) ?? []).length <= 1;

/** True if the user relates the subject to themselves: "my sister Anna", "Anna and I". */
const isRelated = ({ seq, text, isFirstPerson }: Statement, { others, statements }: Said): boolean =>
  (isFirstPerson && saysAll(text, others)) ||
  statements.some(
    (other) =>
      other.seq === seq &&
      other.isFirstPerson &&
      !other.isInstruction &&
      !other.isReported &&
      saysAll(other.text, others),
  );
