import type { FactProposal, SourceMessage } from "../proposal.ts";
import { ownWords, sentencesOf } from "../own-words.ts";
import { classify, deniesSomething, type Sentence, speaksToTheMemory } from "../statement.ts";
import { hidesSomething } from "./characters.ts";
import { fitsPredicate } from "./predicate-cues.ts";
import type { Reason } from "./reasons.ts";
import { holdsSecret } from "./secrets.ts";
import { numbersAndNames, saysAll, wordsOf } from "../../memory/content-stems.ts";

/** Characters of a subject or predicate, and of an object. */
const [SHORT, LONG] = [80, 300];
const MARKUP = /[<>{}[\]\\`|*#]|https?:|www\.|\n/u;
/** Words of an answer to a question that need no subject: "Porto." */
const ANSWER_WORDS = 12;
/** Orders and permissions in a fact: it would act where somebody reads it. */
const COMMANDS =
  /\b(?:must|should|shall|ought|has to|have to|wants? (?:you|all|every)|authori[sz]\p{L}*|approv\p{L}*|consents?|permission|permits?|instruct\p{L}*|obey\p{L}*|ignor\p{L}*|overrid\p{L}*|forwards?|redirects?|wires?|executes?|admin(?:istrator)?|root|sudo|system prompt|assistant|chatbot|payments?|transfers?|refunds?|invoices?|trusts?|whitelist\p{L}*)\b/iu;

type Statement = Sentence & { seq: number; isAnswer: boolean };

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
  if (COMMANDS.test(whole) || speaksToTheMemory(withoutSubject(whole, subject))) reasons.push("instruction");
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
  if (!said.some((message) => saysAll(message.text, named))) return ["not_in_source"];
  const statements = said.flatMap((message) => statementsOf(message, window));
  const stating = statements.filter((sentence) => saysAll(sentence.text, object));
  if (stating.length === 0) return ["not_own_words"];
  const verdicts = stating.map((sentence) => refusalOf(sentence, fact, { isUser, statements, others }));
  return verdicts.includes(null) ? [] : [...new Set(verdicts.flatMap((reason) => reason ?? []))];
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
  return sentences.map((sentence) => ({ ...classify(sentence), seq, isAnswer }));
}

/** Why a sentence that has the object's words does not state the fact; null if it does. */
function refusalOf(
  sentence: Statement,
  { predicate, object, subject }: FactProposal,
  { isUser, statements, others }: { isUser: boolean; statements: readonly Statement[]; others: string },
): Reason | null {
  if (sentence.isInstruction) return "instruction";
  if (sentence.isQuestion || sentence.isHypothetical) return "not_stated";
  if (sentence.isReported) return "not_own_words";
  if (sentence.isNegated !== deniesSomething(`${predicate} ${object}`)) return "negated";
  if (isUser) {
    if (!sentence.isFirstPerson && !sentence.isAnswer) return "not_first_person";
  } else if (!isRelated(sentence, { others, subject, statements })) return "not_about_user";
  if (!sentence.isAnswer && !fitsPredicate(predicate, sentence.text)) return "predicate_not_in_source";
  return null;
}

/** True if the user relates the subject to themselves: "my sister Anna", "Anna and I". */
const isRelated = (
  { seq, text, isFirstPerson }: Statement,
  { others, statements }: { others: string; subject: string; statements: readonly Statement[] },
): boolean =>
  (isFirstPerson && saysAll(text, others)) ||
  statements.some(
    (other) =>
      other.seq === seq &&
      other.isFirstPerson &&
      !other.isInstruction &&
      !other.isReported &&
      saysAll(other.text, others),
  );
