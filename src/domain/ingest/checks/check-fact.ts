import { contentStems, needsOf, numbersAndNames, saidIn, says, wordsOf } from "../../memory/content-stems.ts";
import type { FactProposal } from "../proposal.ts";
import { deniesSomething, speaksToTheMemory } from "../statement.ts";
import { hidesSomething } from "./characters.ts";
import type { CitedMessage, CitedMessages, Needs, Statement } from "./cited-messages.ts";
import { voicesOf } from "./check-speaker.ts";
import { asksFor, isPlainAnswer, refusalOfClaim } from "./predicate-cues.ts";
import type { Reason } from "./reasons.ts";
import { holdsSecret } from "./secrets.ts";

/** Characters of a subject or predicate, and of an object. */
const [SHORT, LONG] = [80, 300];
const MARKUP = /[<>{}[\]\\`|*#]|https?:|www\.|\n/u;
/** Words of a fact times sentences of the user that are compared: a long story that one short fact cites, and many times that. */
export const COMPARISONS = 20_000;
/** Characters of the sentences that name a fact's object: each is parsed for the fact. */
export const NAMING = 8_000;
const NOBODY: ReadonlySet<number> = new Set();
/** Orders and permissions in a fact: it would act where somebody reads it. */
const COMMANDS =
  /\b(?:must|should|shall|ought|has to|have to|wants? (?:you|all|every)|authori[sz]\p{L}*|approv\p{L}*|consents?|permission|permits?|instruct\p{L}*|obey\p{L}*|ignor\p{L}*|overrid\p{L}*|forwards?|redirects?|wires?|executes?|admin(?:istrator)?|root|sudo|system prompt|assistant|chatbot|payments?|transfers?|refunds?|invoices?|trusts?|whitelist\p{L}*)\b/iu;

/** Words that stand for something that only the context tells. */
const VAGUE =
  /^(?:an?|the|i|me|you|he|him|his|she|hers?|it|its|we|us|our|they|them|their|who|and|or|of|in|on|at|to|for|from|with|by|as|so|is|am|are|was|be|not?|yes|der|die|das|ihn|ihm|ihr|le|la|les|el|los|las|lui|elle|lo|il|het|de|something|someone|somebody|anything|anyone|anybody|everything|everyone|everybody|things?|stuff|ones?|here|there|those|these|that|this|mine|yours)$/iu;

/** The reasons why a fact may not become live; none if it may. */
export function checkFact(fact: FactProposal, messages: CitedMessages): Reason[] {
  const { subject, predicate, object, text = "" } = fact;
  const whole = [subject, predicate, object, text].join(" ");
  const reasons: Reason[] = [];
  const isTooLong = [subject, predicate].some((part) => part.length > SHORT) || object.length > LONG;
  if (isTooLong || [subject, predicate].some((part) => part.trim() === "") || MARKUP.test(whole))
    reasons.push("malformed");
  if (holdsSecret(whole)) reasons.push("secret");
  const talk = [subject, predicate, object].join(" ");
  const aboutUser = [talk, text].map((part) => withoutSubject(part, subject)).join("\n");
  if (COMMANDS.test(whole) || speaksToTheMemory(aboutUser)) reasons.push("instruction");
  const cited = messages.of(fact.sources);
  if (hidesSomething(whole) || cited.some(({ hides }) => hides)) reasons.push("hidden_characters");
  // Its words are refused for their number: nothing is looked for.
  return isTooLong ? reasons : [...reasons, ...support(fact, cited)];
}

/** A fact about the user names the user: that alone is no talk about the memory. */
const withoutSubject = (whole: string, subject: string): string =>
  /^(?:the )?user(?:['’]s)?\b/iu.test(subject) ? whole.replace(/^(?:the )?user(?:['’]s)?/iu, "") : whole;

/** The reasons that follow from the cited messages. One sentence of a user has to state the fact. */
function support(fact: FactProposal, cited: readonly CitedMessage[]): Reason[] {
  const said = cited.filter(({ role }) => role === "user");
  if (said.length === 0) return ["not_said_by_user"];
  const verdicts = voicesOf(fact, said).map((voice) => statedIn(voice.fact, voice.messages));
  return verdicts.find((reasons) => reasons.length === 0) ?? verdicts[0] ?? ["not_about_user"];
}

/** The same of messages whose writer is the user. */
function statedIn(fact: FactProposal, said: readonly CitedMessage[]): Reason[] {
  const { subject, predicate, object, text = "" } = fact;
  const isUser = /^(?:the )?user$/iu.test(subject.trim());
  const others = subject.replace(/^(?:the )?user['’]s\s+/iu, "");
  const telling = needsOf(
    [object, ...(isUser ? [] : [others]), ...numbersAndNames(`${predicate} ${text}`)].join(" "),
  );
  if (!tellsSomething(object) || !said.some((message) => message.says(telling))) return ["not_in_source"];
  const statements = said.flatMap((message) => message.statements);
  if (statements.length * wordsOf(`${subject} ${predicate} ${object}`).length > COMPARISONS)
    return ["too_long"];
  const named = needsOf(object);
  const naming = statements.filter((sentence) => sentence.says(named));
  if (naming.length === 0) return ["not_own_words"];
  if (naming.reduce((sum, sentence) => sum + sentence.text.length, 0) > NAMING) return ["too_long"];
  const needs = needsOf(others);
  const about = { isUser, others, needs, related: isUser ? NOBODY : relatedIn(statements, needs) };
  const verdicts = naming.map((sentence) => refusalOf(sentence, fact, about));
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

/** The subject of a fact: `others` and its words if it is not the user, and the messages in which the user relates it to themselves. */
type About = { isUser: boolean; others: string; needs: Needs; related: ReadonlySet<number> };

/** Why a sentence that has the object's words does not state the fact; null if it does. */
function refusalOf(sentence: Statement, { predicate, object }: FactProposal, said: About): Reason | null {
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
  if (sentence.says(said.needs)) return refusalOfClaim(claim, sentence.text);
  return isOnlySubject(sentence.before, said)
    ? refusalOfClaim({ ...claim, subject: "it" }, sentence.text)
    : "not_about_user";
}

/** True if a sentence names the subject and nobody else: "My sister called." before "She lives in Rome." */
function isOnlySubject(sentence: string, { others, needs }: About): boolean {
  if (!says(saidIn(sentence), needs)) return false;
  const subject = saidIn(others);
  return (
    numbersAndNames(sentence).every((word) => says(subject, needsOf(word))) &&
    (sentence.match(/\b(?:my|our|his|her|their|the|an?)\b/giu) ?? []).length <= 1
  );
}

/** True if the user relates the subject to themselves: "my sister Anna", "Anna and I". */
const isRelated = (sentence: Statement, { needs, related }: About): boolean =>
  (sentence.isFirstPerson && sentence.says(needs)) || related.has(sentence.seq);

/** The messages in which a sentence of the user's own relates a subject to them. */
const relatedIn = (statements: readonly Statement[], needs: Needs): ReadonlySet<number> =>
  new Set(
    statements
      .filter((one) => one.isFirstPerson && !one.isInstruction && !one.isReported && one.says(needs))
      .map(({ seq }) => seq),
  );
