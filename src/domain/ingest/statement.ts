import { folded } from "../ranking/fold.ts";

/** Words as they are compared: folded, with apostrophes as ', and spaces around. */
export const plain = (text: string): string =>
  ` ${folded(text.replaceAll(/[’`´]/gu, "'"))
    .replaceAll(/[^\p{L}\p{N}'$€£@.,:%+/-]+/gu, " ")
    .replaceAll(/(?<!\d)[.,:/-]+|[.,:/-]+(?!\d)/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim()} `;

const anyOf = (words: string): RegExp =>
  new RegExp(
    ` (?:${words
      .trim()
      .split(/\s*\n\s*|\s*,\s*/u)
      .join("|")}) `,
    "u",
  );

/** Words of the first person, by language, folded. Romance verbs say the person without a pronoun. */
const FIRST_PERSON = anyOf(`
  i, i'm, im, i've, ive, i'd, i'll, my, mine, me, myself, we, we're, we've, our, ours
  ich, mein, meine, meiner, meinem, meinen, meines, mich, mir, wir, unser, unsere, unserer, unserem, unseren, uns
  je, j'\\p{L}+, j, mon, ma, mes, moi, nous, notre, nos, m'appelle, m', m'\\p{L}+
  yo, mi, mis, me, nosotros, nosotras, nuestro, nuestra, soy, estoy, vivo, trabajo, tengo, hablo, naci, quiero, prefiero, uso, estudio, conduzco, juego
  eu, meu, minha, meus, minhas, nos, nosso, nossa, sou, estou, moro, trabalho, tenho, falo, nasci, prefiro, gosto, adoro, estudo, mudei
  io, mio, mia, miei, mie, sono, abito, lavoro, ho, parlo, preferisco, nostro, nostra, studio, uso, adoro, odio
  ik, mijn, mij, wij, we, ons, onze
  jag, min, mitt, mina, mig, vi, vår, var, jeg, mit, meg
  moj, moja, moje, mieszkam, jestem, mam, pracuje, lubie
  я, мне, меня, мой, моя, мое, мои, мы, наш, наша
  ben, benim, bana, biz, bizim
`);
/** In Italian, "i" is an article. */
const ITALIAN = / (?:che|del|della|gli|sono|devono|il|per) /u;
/** The first person of languages without spaces. */
const FIRST_PERSON_UNSPACED = /私|僕|俺|わたし|我|咱|저는|제가|나는|내가|제 |내 /u;

const QUESTION = /[?？]["'”’)\]]*\s*$/u;
const ASKS =
  /^ (?:who|what|when|where|why|how|which|whose|is|are|am|do|does|did|can|could|would|should|shall|will|may|might|have i|wer|wie|was|wann|wo|warum|welche|kannst|konntest|qui|que|quand|ou|pourquoi|comment|est-ce|peux|pourrais|quien|cuando|donde|por que|como|puedes|podrias|quem|quando|onde|chi|che cosa|dove|perche|puoi|wie|wat|waar|waarom|kun) /u;

const HYPOTHETICAL = anyOf(`
  if, unless, suppose, supposing, imagine, imagining, pretend, pretending, assume, assuming, hypothetically, let's say, say that, what if, would, wouldn't, could, might, maybe, perhaps, possibly, wish, wished, as if, as though, in case, role play, roleplay, playing a, in the story, in my story, in my novel, my character, the character, joke, joking, kidding, dreamt, dreamed, in my dreams?, in a dream, in the game, in this game
  wenn, falls, angenommen, wurde, wurden, konnte, vielleicht, stell dir vor, tu so
  si, suppose que, imagine que, imaginons, peut-etre, serais, aurais, voudrais, pourrais
  supongamos, imagina, imaginate, quizas, tal vez, ojala, seria, tendria, podria
  se (?:eu|io|fosse|fossi|tivesse|morasse|avessi), suponha, talvez, imagine, oxala, teria, poderia
  forse, immagina, supponi, sarei, avrei, potrei, fosse, magari
  stel, misschien, zou, kanske, tank om
  jesli, gdyby, moze
  если, бы, может, представь
  eger, belki
`);
/** Conditions that change nothing about what is said. */
const POLITE_CONDITION =
  / if (?:(?:that|it|this) (?:helps|matters|is ok|works|makes a difference)|needed|necessary|possible|you (?:like|want|need it|must know|are wondering|don't mind)) /u;
const HYPOTHETICAL_UNSPACED = /もし|たら|如果|假如|假设|也许|要是|만약|아마/u;

const REPORTED = anyOf(`
  says, said, claims, claimed, thinks, thought, writes, wrote, tells, told, states, stated, believes, believed, insists, insisted, suggests, suggested, recommends, recommended
  (?:they|people|everyone|everybody|nobody|others|some|many) (?:all )?(?:say|think|claim|believe|call|know|knows|suspect|suspects), you (?:say|claim|believe), calls me, call me a, call me an
  according to, allegedly, supposedly, apparently, rumor, rumour, quote, unquote, i read that, i read in, i heard, you mentioned, you think, you believe, you call, page reads, sign reads
  er sagt, sie sagt, behauptet, behaupten, glaubt, denkt, meint, laut, angeblich, du sagtest, du hast gesagt
  selon, il dit, elle dit, il a dit, elle a dit, on dit, tu as dit, d'apres
  segun, dice que, dijo que, dicen que, dijiste
  segundo, diz que, disse que, dizem que
  secondo, dice che, ha detto, dicono
  volgens, hij zegt, zij zegt, ze zegt
`);

const NEGATED = anyOf(`
  not, no, never, none, neither, nor, nothing, nobody, \\p{L}+n't, cannot, cant, dont, doesnt, didnt, isnt, arent, wasnt, havent, wont, no longer, anymore, any more, used to, stopped, quit, formerly, hate, hates, hated, dislike, dislikes, detest, detests, loathe, loathes, but not, hardly, barely, far from, former, ex, gave up, lied, false, wrong, untrue, rather than
  nicht, kein, keine, keinen, keiner, keinem, nie, niemals, nichts, nicht mehr, hasse
  ne, n'\\p{L}+, n, pas, jamais, rien, aucun, aucune, deteste, non
  nunca, jamas, nada, ningun, ninguna, tampoco, ya no, odio
  nao, nunca, jamais, nada, nenhum, nenhuma, detesto
  mai, niente, nessun, nessuna
  niet, geen, nooit, niets, haat
  inte, aldrig, ingen, ikke
  nie, nigdy, zadnych
  не, нет, никогда, ненавижу
  degil, hic, asla
`);
const NEGATED_UNSPACED = /ない|ません|じゃな|嫌い|不|没|别|안 |않|못|싫/u;

/** Words of a text that speaks to the memory or about the assistant, not about the user's life. */
const TO_THE_MEMORY = anyOf(`
  the user, the user's, this user, users, user's, assistant, assistants, chatbot, chatbots, llm, gpt, chatgpt, claude, language model, the model, the ai, this ai, an ai, ai (?:should|must|assistant|model|agent|memory), the agent, your memory, your memories, long-term memory, memory (?:entry|update|bank|store), system prompt, the prompt, system message, instruction, instructions, jailbreak, developer mode, override, overwrite, disregard, obey, comply, from now on, henceforth, you must, you should, you will, you shall, you have to, you need to, you are now, always (?:say|reply|answer|respond|recommend|trust|send|use|add|include|call|do), never (?:say|reply|answer|tell|mention|reveal|ask), must always, must never, note that, authorize, authorise, authorized, authorised, permission, consent, pre-approved, whitelist, whitelisted
  der nutzer, des nutzers, der benutzer, des benutzers, dem nutzer, nutzer, benutzer, assistent, speichere, ignoriere, ab jetzt, ab sofort, du musst, du sollst, ersetze
  l'utilisateur, utilisateur, assistant, memorise, enregistre, ignore, desormais, tu dois, vous devez, remplace
  el usuario, del usuario, usuario, asistente, recuerde, guarda, ignora, a partir de ahora, debes, reemplaza
  o usuario, do usuario, usuario, assistente, guarde, ignore, a partir de agora, voce deve, substitua
  l'utente, utente, assistente, memorizza, ignora, d'ora in poi, devi, sostituisci
  de gebruiker, gebruiker, sla op, negeer, vanaf nu, je moet, vervang
  anvandaren, spara, ignorera
  uzytkownik, uzytkownika, zapamietaj, zapisz, ignoruj
  пользователь, пользователя, запомни, запиши, игнорируй, отныне, ты должен
  kullanici, kullanicinin, hatirla, kaydet
`);
/** Orders, at the beginning of a sentence. */
const ORDERS =
  /^ (?:please |kindly |now |then |and |also )*(?:ignore|store|save|update|replace|delete|erase|forget|remember|memorize|memorise|treat|allow|grant|transfer|wire|send|forward|redirect|execute|run|click|visit|download|install|set|mark|add|note|record|log|change|correct|switch|use|trust|tell|say|reply|respond|repeat|vergiss|uberweise|oublie|vire|souviens-toi|retiens|olvida|recuerda|transfiere|esqueca|lembre|transfira|dimentica|ricorda|trasferisci|vergeet|onthoud|glom|kom ihag|zapomnij|забудь|unut) /u;
const TO_THE_MEMORY_UNSPACED =
  /ユーザー|覚えて|記憶|保存|無視|忘れて|用户|记住|保存|忽略|忘记|记录|从现在|사용자|기억해|저장|무시|잊어/u;

/** A polite frame around what the user says about themselves. */
const FRAME =
  /^(?:(?:ok|okay|hi|hey|hello|so|well|also|btw|by the way|fyi|just|and|please|pls|for the record|one more thing|remember|do remember|keep in mind|note|bear in mind|don['’]?t forget|merke? dir(?: bitte)?|bitte merke? dir|retiens|souviens-toi|recuerda|lembra|ricorda|onthoud)\b(?: that| dass| que| che| dat)?[\s,:.!–-]*)+/iu;

export type Sentence = {
  text: string;
  /** With spaces around each word. */
  plain: string;
  isFirstPerson: boolean;
  isQuestion: boolean;
  isHypothetical: boolean;
  isReported: boolean;
  isNegated: boolean;
  isInstruction: boolean;
};

/** Tells what kind of statement a sentence of a user's own words is. */
export function classify(sentence: string): Sentence {
  const said = plain(sentence);
  const framed = sentence.replace(FRAME, "");
  const inside = plain(framed === "" ? sentence : framed);
  return {
    text: sentence,
    plain: said,
    isFirstPerson:
      FIRST_PERSON.test(ITALIAN.test(inside) ? inside.replaceAll(" i ", "  ") : inside) ||
      FIRST_PERSON_UNSPACED.test(sentence),
    isQuestion: QUESTION.test(sentence) || ASKS.test(inside),
    isHypothetical:
      HYPOTHETICAL.test(inside.replace(POLITE_CONDITION, " ")) || HYPOTHETICAL_UNSPACED.test(sentence),
    isReported: REPORTED.test(inside) || sentence.includes("…") || /[^\s:]{2}:\s+\S/u.test(framed),
    isNegated: isNegated(inside) || NEGATED_UNSPACED.test(sentence),
    isInstruction: isInstruction(inside, sentence),
  };
}

/** True if the text denies something, in any of the languages that the rules know. */
const isNegated = (said: string): boolean =>
  NEGATED.test(said.replaceAll(/ (?:no problem|not only|no doubt) /gu, " "));

/** True if a fact denies something: its predicate or its object does. */
export const deniesSomething = (text: string): boolean =>
  isNegated(plain(text)) || NEGATED_UNSPACED.test(text);

/** True if a text speaks to the memory, or orders an assistant. */
export const speaksToTheMemory = (text: string): boolean => isInstruction(plain(text), text);

const isInstruction = (said: string, text: string): boolean =>
  TO_THE_MEMORY.test(said) || ORDERS.test(said) || TO_THE_MEMORY_UNSPACED.test(text);
