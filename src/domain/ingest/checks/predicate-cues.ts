import { folded } from "../../ranking/fold.ts";
import { plain } from "../statement.ts";
import { contentStems, stem, wordsOf } from "../../memory/content-stems.ts";

/** What people say who state a fact of a predicate. The first member tells the predicate, the second the words. */
const CUES: readonly (readonly [predicate: RegExp, said: RegExp])[] = [
  [
    /live|reside|home|city|town|country|moved|location|based|address/u,
    / (?:live|lives|living|lived|reside|residing|based|moved|moving|move|relocated|settled|home|hometown|flat|apartment|house|place|staying|here in|in|from|wohne|wohnen|lebe|leben|gezogen|umgezogen|zuhause|habite|habitons|vis|vivons|demenage|vivo|vivimos|resido|mude|mudado|mudei|moro|moramos|abito|abitiamo|trasferito|trasferita|woon|wonen|verhuisd|bor|flyttat|flyttade|mieszkam|живу|переехал|переехала|yasiyorum|oturuyorum) /u,
  ],
  [
    /work|job|occupation|profession|employ|role|position|career/u,
    / (?:work|works|working|worked|job|jobs|employed|employer|company|office|engineer|career|profession|hired|joined|started at|i'm an?|im an?|i am an?|as an?|arbeite|arbeiten|beruf|job|angestellt|bin|travaille|metier|suis|trabajo|trabajamos|soy|trabalho|sou|lavoro|faccio|sono|werk|ben|jobbar|arbetar|pracuje|jestem|работаю|calisiyorum) /u,
  ],
  [
    /name|called/u,
    / (?:name|names|named|called|call me|i'm|im|i am|heisse|heiss|heißt|name|namens|m'appelle|appelle|nom|llamo|llama|nombre|soy|chamo|chama|nome|sou|chiamo|chiama|nome|sono|heet|naam|heter|namn|nazywam|imie|зовут|adim|ismim) /u,
  ],
  [
    /like|love|enjoy|favou?rite|prefer|fan|interest|hobby|passion|into/u,
    / (?:like|likes|liked|love|loves|enjoy|enjoys|enjoying|adore|favourite|favorite|prefer|prefers|fan|fond|keen|into|passion|passionate|hobby|hobbies|interested|crazy about|mag|mogen|liebe|gerne|gern|lieblings\p{L}*|bevorzuge|aime|aimons|adore|prefere|passionne|gusta|gustan|encanta|encantan|prefiero|favorito|favorita|gosto|adoro|prefiro|favorito|piace|piacciono|amo|adoro|preferisco|hou|graag|lievelings\p{L}*|gillar|alskar|lubie|kocham|люблю|нравится|severim|seviyorum) /u,
  ],
  [
    /dislike|hate|avoid|not like|can't stand/u,
    / (?:dislike|hate|hates|avoid|avoiding|can't|cant|don't|dont|not|never|nicht|hasse|pas|deteste|odio|no|nao|non|niet) /u,
  ],
  [
    /allerg|intoleran/u,
    / (?:allerg\p{L}*|intoleran\p{L}*|react|reaction|alerg\p{L}*|allergiq\p{L}*|unvertraglich\p{L}*|аллергия|alerjim) /u,
  ],
  [
    /speak|language|native|fluent/u,
    / (?:speak|speaks|speaking|fluent|native|language|languages|spreche|sprechen|muttersprache|parle|parlons|langue|hablo|idioma|falo|lingua|parlo|spreek|taal|pratar|talar|mowie|говорю|konusuyorum) /u,
  ],
  [
    /birthday|born|birth/u,
    / (?:birthday|born|birth|bday|turn|turned|turning|geburtstag|geboren|anniversaire|ne|nee|cumpleanos|naci|nacido|aniversario|nasci|compleanno|nato|nata|jarig|verjaardag|fodelsedag|fodd|urodziny|urodzilem|родился|родилась|рождения|dogum) /u,
  ],
  [
    /\bage\b|years old/u,
    / (?:age|aged|years|year|turned|old|yo|y\/o|jahre|jahr|ans|anos|anni|jaar|ar|lat|лет|yasindayim|i'm|im|i am) /u,
  ],
  [
    /e-?mail/u,
    / (?:e-?mail|mail|address|correo|courriel|posta|adresse|reach me|contact me|write to me|ping me) /u,
  ],
  [
    /phone|mobile/u,
    / (?:phone|mobile|cell|number|telefon\p{L}*|handy|telephone|numero|telefono|telefone|call me|text me|reach me) /u,
  ],
  [
    /child|son|daughter|kid|pet|dog|cat|brother|sister|sibling|wife|husband|partner|married|spouse|parent|mother|father|friend|family|owns?|has\b|drives?/u,
    / (?:have|has|had|got|own|owns|my|our|drive|drives|bought|adopted|married|wife|husband|partner|habe|haben|mein|meine|besitze|fahre|verheiratet|ai|avons|mon|ma|mes|possede|conduis|marie|mariee|tengo|tenemos|mi|mis|conduzco|casado|casada|tenho|temos|meu|minha|dirijo|ho|abbiamo|mio|mia|guido|sposato|sposata|heb|hebben|mijn|rijd|getrouwd|har|min|mitt|mam|moj|moja|мой|моя|есть|var|benim) /u,
  ],
  [
    /use|uses|using|editor|tool|stack|drives?/u,
    / (?:use|uses|using|used|run|running|drive|work with|works with|on|benutze|verwende|nutze|utilise|uso|utilizo|gebruik|anvander|uzywam|использую|kullaniyorum) /u,
  ],
  [
    /stud|degree|school|university|major|graduat/u,
    / (?:study|studies|studying|studied|student|degree|graduated|school|university|college|major|phd|master's|bachelor's|studiere|studiert|etudie|etudiant|estudio|estudiante|estudo|studio|studeer|laser|studerar|studiuje|учусь|okuyorum) /u,
  ],
  [
    /diet|vegetarian|vegan|eats?|drinks?|food/u,
    / (?:i'm|im|i am|eat|eats|eating|drink|drinks|drinking|vegan|vegetarian|pescatarian|diet|esse|trinke|bin|mange|bois|suis|como|bebo|soy|sou|mangio|bevo|sono|eet|drink|ben) /u,
  ],
  [/time ?zone/u, / (?:time ?zone|utc\S*|gmt\S*|cet|est|pst|zeitzone|fuseau) /u],
  [
    /plan|going to|will|wants? to|intend/u,
    / (?:plan|plans|planning|going|will|i'll|want|wants|intend|hope|moving|travel\p{L}*|plane|vais|voy a|vou|vado|ga|ska) /u,
  ],
  [
    /visit|travel|been to|went/u,
    / (?:visited|visit|visiting|went|been|travel\p{L}*|trip|holiday|vacation|war in|besucht|visite|fui|visite|visitei|fui|stato|stata|geweest) /u,
  ],
  [
    /plays?|sport|instrument|hobby|practi[cs]e|runs?|train/u,
    / (?:play|plays|playing|run|running|train|training|practi[cs]e|practi[cs]ing|spiele|joue|juego|jogo|gioco|suono|speel|spelar|gram|играю|oynuyorum) /u,
  ],
  [
    /^(?:is|are|am|was|has been)\b/u,
    / (?:i'm|im|i am|we are|we're|my|bin|suis|soy|estoy|sou|sono|ben|jag ar|jestem|is) /u,
  ],
];

/** True if a sentence says something that fits the predicate: a word of it, or words that state such facts. */
export function fitsPredicate(predicate: string, sentence: string): boolean {
  const said = plain(sentence);
  const stems = new Set(wordsOf(sentence).map(stem));
  const telling = contentStems(predicate);
  if (telling.some((word) => stems.has(word))) return true;
  // "from", "in": such a predicate is itself said.
  const little = wordsOf(predicate).filter((word) => !/^(?:is|are|am|was|has|have)$/iu.test(word));
  if (telling.length === 0 && little.length > 0)
    return little.every((word) => said.includes(` ${folded(word)} `));
  const name = folded(predicate).replaceAll("_", " ");
  // Scripts that the cues do not have: the words of the object have to suffice.
  if (!/[a-zа-я]/u.test(said)) return true;
  return CUES.some(([names, cues]) => names.test(name) && cues.test(said));
}
