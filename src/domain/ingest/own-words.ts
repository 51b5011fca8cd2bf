/** Marks that begin what somebody else wrote: all lines after one are not the user's. */
const PASTED: readonly RegExp[] = [
  // "Here is the page:", "from the article:", "Below is the log:", "He wrote:"
  /(?:here(?:['’]s| is| are| was)|below (?:is|are)|this is (?:what|the)|see (?:below|the)|the following|following|copied|copy of|pasted?|pasting|forward(?:ed|ing)?|fwd?|quot(?:e|ing)|excerpt|from (?:the|this|their|his|her|an?)|(?:this|that|the|an?|my|our|their|his|her) (?:\p{L}+ ){0,4}(?:page|site|website|article|post|blog|text|mail|e-?mail|message|letter|document|doc|readme|file|log|output|result|transcript|review|comment|ticket|contract|invoice|note|pdf|thread|chat|newsletter|prompt|policy|terms))(?:\b[^\n]*)?:\s*$/iu,
  /(?:wrote|writes|said|says|sent|posted|replied|answered|reads|states|schrieb|sagte|a écrit|escribió|escreveu|scrisse|schreef)\s*:\s*$/iu,
  /(?:hier (?:ist|sind)|voici|voilà|aquí (?:está|tienes)|aqui (?:está|vai)|ecco|hier is|det här är|вот|以下|这是|これは|여기|işte)[^\n]*[:：]\s*$/iu,
  /^-{2,}\s*(?:original|forwarded|begin|start|page|article|text|mail|message|ursprüngliche|mensaje|message d)/iu,
  /^(?:from|to|cc|subject|date|sent|von|an|betreff|de|à|objet|para|asunto|assunto|da|oggetto|van|onderwerp)\s*:\s+\S/iu,
  /^(?:on|am|le|el|em|il|op)\s[^\n]{3,80}(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto|schreef)\s*:/iu,
  /^(?:={3,}|#{3,}|_{5,}|\*{5,}|-{5,})\s*$/u,
  /^(?:<[a-z!/?][^>]*>|\[(?:system|inst|tool|page|article|doc|file|begin)[^\]]*\])/iu,
  /^(?:user|assistant|human|ai|bot|system|developer|tool|function|model|chatgpt|claude|gpt|admin|operator|note to (?:ai|assistant|the model)|instructions?|context|memory|memories|facts?|profile)\s*(?:\([^)]*\))?\s*[:：>]/iu,
  /^https?:\/\/\S+\s*$/iu,
  /^(?:\{|\[\s*[{"]|"[^"]+"\s*:)/u,
  /^\s*\/\*|^\s*<!--/u,
];
/** A longer paragraph is taken for a pasted one: people write to an assistant in short ones. */
const LONG_PARAGRAPH = 1_200;
/** Characters of a message that are looked at. What is behind them shows no fact. */
const LONGEST = 12_000;
/** A text without its quotations. Apostrophes stay. */
const QUOTED = /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|»[^«\n]*«|「[^」]*」|『[^』]*』|`[^`\n]*`/gu;
const FENCED = /(?:```|~~~)[\s\S]*?(?:```|~~~|$)/gu;
/** The mark in the place of a quotation: no word of that counts. */
export const GAP = " … ";

/**
 * The part of a user's message that is in the user's own words: without code, quotations, quoted lines, and all that follows a
 * sign of pasted text.
 */
export function ownWords(text: string): string {
  const own: string[] = [];
  for (const line of text.slice(0, LONGEST).replaceAll(FENCED, GAP).split(/\r?\n/u)) {
    const trimmed = line.trim();
    // The expressions take time that grows with the square of a line.
    if (trimmed.length > LONG_PARAGRAPH) {
      const ends = [trimmed.slice(0, LONG_PARAGRAPH), trimmed.slice(-LONG_PARAGRAPH)];
      if (ends.some(isPasted)) break;
      continue;
    }
    if (isPasted(trimmed)) {
      // The sentences before the one that hands it over.
      if (/[:：]$/u.test(trimmed))
        own.push(...sentencesOf(trimmed.replaceAll(QUOTED, GAP)).slice(0, -1).map(withoutHandedOver));
      break;
    }
    if (/^(?:>|\||\t)/u.test(trimmed)) continue;
    own.push(withoutHandedOver(trimmed.replaceAll(QUOTED, GAP)));
  }
  return own.join("\n");
}

const isPasted = (line: string): boolean => PASTED.some((mark) => mark.test(line));

/** Somebody else said the words that follow "the mail says:" on the same line. */
const HANDED_OVER =
  /(?:\b(?:says?|said|reads?|states?|writes?|wrote|told (?:me|us)|tells|claims?|page|site|article|mail|e-?mail|message|letter|document|text|review|log|summarize|summarise|translate|proofread|correct|rewrite|explain|check|review)\b[^:\n]{0,60}|\b(?:sagt|steht|schreibt|übersetze|traduis|traduce|traduza|traduci|vertaal)\b[^:\n]{0,40}):\s.*$/iu;

const withoutHandedOver = (line: string): string => line.replace(HANDED_OVER, GAP);

/** The sentences of a text, each with its mark. */
export const sentencesOf = (text: string): string[] =>
  text
    .split(
      /(?=\s)(?<=(?<!\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|No|Hr|Fr|Mme|Sra?|[A-Z]))[.!?…。！？]["'”’)\]]*)\s+|\n+|(?<=[。！？])|;\s+/u,
    )
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
