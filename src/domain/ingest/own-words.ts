import { type Cue, has, read, type LanguageReading, readPart, withoutWords } from "../language/cues.ts";
import { anyOf, fieldsOf } from "../language/fields.ts";

const WRITING = fieldsOf("writing");
/** A longer paragraph is taken for a pasted one: people write to an assistant in short ones. */
const LONG_PARAGRAPH = 1_200;
/** Characters of a message that are looked at. What is behind them shows no fact. */
export const READ = 12_000;
/** The mark in the place of each character that somebody else wrote. */
export const GAP = "\u{fffc}";

/** Quotations within a line. Apostrophes stay. */
const QUOTED =
  /"[^"\n]*"|“[^”\n]*”|”[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|»[^«\n]*«|「[^」]*」|『[^』]*』|`[^`\n]*`|>>[^<\n]*<<|(?<![\p{L}\p{N}])['‘](?=\S)(?:[^'’\n]|['’](?=\p{L}))*['’](?!\p{L})/gu;
/** Opens a quotation that goes on in the next lines, and what closes it. A straight mark behind a digit means inches. */
const OPENS = /[“„«「『]|(?<![^\s([])"(?=\S)/u;
const CLOSES: Readonly<Record<string, RegExp>> = {
  "“": /”/u,
  "„": /[“”]/u,
  "«": /»/u,
  "「": /」/u,
  "『": /』/u,
  '"': /(?<=\S)"/u,
};
const FENCED = /(`{3,}|~{3,})[\s\S]*?(?:\1|$)/gu;
/** Lines after which all is somebody else's: rules, tags, data, addresses, headers of mails, turns of a chat with or without their times. */
const PASTED: readonly RegExp[] = [
  /^-{2,}\s*\p{L}|(?:^|\s)[=#_*-]{3,}$/u,
  /^(?:<[a-z!/?]|\[[^\]]{2,}\]|\{|\[\s*[{"]|"[^"]+"\s*:|\/[/*]|https?:\/\/\S+$)/iu,
  new RegExp(String.raw`^${anyOf(WRITING.map(({ headers }) => headers))}\s*[:：]\s*\S`, "iu"),
  /^\p{L}[\p{L}\p{M} .'-]{0,30}[([,]?\s*\d{1,2}[:.]\d{2}\s*(?:[ap]m)?[)\]]?\s*(?:[:：]|-(?!\s*\d))/iu,
  new RegExp(
    String.raw`^${anyOf(WRITING.map(({ chatNames }) => chatNames))}(?:\s*\([^)]*\))?\s*[:：>]`,
    "iu",
  ),
];
/** Lines that are quoted, data, code, or what an invented person does, by their form. */
const MARKED_LINE =
  /^(?:\s{0,3}[>＞|]|\t| {2,}\S+:|\*\p{L}[^*]*\s[^*]*\*)|^[^\n]{0,200}[={(][^\n]*[;{}]\s*(?:\/\/[^\n]*)?$/u;
/** A quoted line that ends within a sentence: the next one goes on with it if it begins in a small letter. */
const OPEN_LINE = /^\s{0,3}[>＞][^\n]*[^.!?…\s]\s*$/u;
/** "key: value": people write one, and paste several. */
const ENTRY = /^\s*[-*]?\s*[\p{L}\p{N}_ ]{1,24}[:：](?:\s|$)/u;
/** Data with commas, as people paste it: several lines. */
const ROW = /^[^,\s][^,]*(?:,(?!\s)[^,]*){2,}$/u;
/** A line of its own behind a blank one: "Dear Sir or Madam,". */
const SALUTATION = /^\p{L}[^,.!?:]{1,60}[,،，]$/u;
/** Not in a time, an address or a smiley. */
const COLON = /[:：](?![\d)(/]|-[)(])/gu;
/** Colons of a line. One with more is data. */
const COLONS = 8;
/** Before a colon, they say that the rest is somebody else's. */
const HANDING: readonly Cue[] = ["hands", "texts", "reports", "scenes"];

/** The speaker as the name of a part in a dialogue: "Me: good evening." */
const PARTS: ReadonlySet<string> = new Set([" me ", " i "]);

const hidden = (text: string): string => text.replaceAll(/[^\n]/gu, (sign) => GAP.repeat(sign.length));

/**
 * A user's message with a mark in the place of each character that is not in the user's own words: code, quotations, data, and all
 * that follows a sign of pasted text, or a colon behind a word such as "translate". Each other character stays in its place.
 */
export function ownWords(text: string): string {
  const looked = text.slice(0, READ);
  const { languages } = read(looked);
  const lines = withoutQuotations(looked.replaceAll(FENCED, hidden)).split("\n");
  const [entries, rows] = [ENTRY, ROW].map((form) => lines.map((line) => form.test(line.slice(0, 200)))) as [
    boolean[],
    boolean[],
  ];
  let isOver = false;
  let isOwnList = false;
  let isQuoted = false;
  return lines
    .map((line, i) => {
      const trimmed = line.trim();
      // The expressions take time that grows with the square of a line.
      if (trimmed.length > LONG_PARAGRAPH) {
        isOver ||= [trimmed.slice(0, LONG_PARAGRAPH), trimmed.slice(-LONG_PARAGRAPH)].some(isPasted);
        return hidden(line);
      }
      isOver ||= isPasted(trimmed) || isSalutation(lines, i);
      isOwnList &&= trimmed !== "";
      const isData = (isOwnList ? [rows] : [entries, rows]).some((those) => isAmong(those, i));
      isQuoted = (isQuoted && /^\p{Ll}/u.test(trimmed)) || OPEN_LINE.test(line);
      if (isOver || isQuoted || isData || MARKED_LINE.test(line)) return hidden(line);
      const handed = isOwnList ? UNHANDED : handedIn(line, languages);
      isOver = handed.isOver;
      isOwnList ||= handed.isOwnList;
      return line.slice(0, handed.from) + hidden(line.slice(handed.from));
    })
    .join("\n");
}

/** A line of a form beside another of it. */
const isAmong = (those: readonly boolean[], i: number): boolean =>
  those[i] === true && (those[i - 1] === true || those[i + 1] === true);

const isSalutation = (lines: readonly string[], i: number): boolean =>
  i > 1 && lines[i - 1]?.trim() === "" && SALUTATION.test(lines[i]?.trim() ?? "");

type Handed = { from: number; isOver: boolean; isOwnList: boolean };
const UNHANDED: Handed = { from: Infinity, isOver: false, isOwnList: false };

/**
 * Where others' words begin in a line, behind a colon; `isOver`: and do not end with it; `isOwnList`: a list of what the user is
 * begins behind it.
 */
function handedIn(line: string, languages: LanguageReading["languages"]): Handed {
  let start = 0;
  const colons = Array.from(line.matchAll(COLON), ({ index }) => index);
  if (colons.length > COLONS) return { ...UNHANDED, from: 0 };
  for (const colon of colons) {
    const [sentence = ""] = line
      .slice(start, colon)
      .split(/(?<=[.!?…。！？])\s+/u)
      .slice(-1);
    const before = read(sentence, languages);
    start = colon + 1;
    // "Some facts about me:" begins a list of the user's, and "in English:" a text.
    const isOf = isOfSpeaker(before) && !PARTS.has(before.wording);
    const isOwn = isOf || has(before, "frames");
    const rest = readPart(line.slice(start), before);
    const isHanding =
      HANDING.some((cue) => has(withoutWords(before, "frames"), cue)) || (!isOwn && isOfSpeaker(rest));
    const isLast = line.slice(start).trim() === "";
    const isOwnList = isLast && isOf && !isHanding && !has(before, "others");
    if (isHanding || isLast) return { from: start, isOver: isLast && (isHanding || !isOwn), isOwnList };
  }
  return UNHANDED;
}

const isOfSpeaker = (reading: LanguageReading): boolean => has(reading, "self") || has(reading, "whose");

/** A text with marks in place of its quotations: of those that nobody closes, up to its end. */
function withoutQuotations(text: string): string {
  let closes: RegExp | undefined;
  return text
    .split("\n")
    .map((line, i, lines) => {
      let from = 0;
      if (closes !== undefined) {
        from = line.search(closes) + 1;
        if (from === 0) return hidden(line);
        closes = undefined;
      }
      const rest = line.slice(from);
      const own =
        hidden(line.slice(0, from)) + (line.length > LONG_PARAGRAPH ? rest : rest.replaceAll(QUOTED, hidden));
      const at = own.search(OPENS);
      if (at < 0) return own;
      const mark = own[at] ?? "";
      closes = CLOSES[mark];
      // One mark alone is a slip.
      if (mark === '"' && !lines.slice(i + 1).some((one) => one.includes(mark))) closes = undefined;
      return closes === undefined ? own : own.slice(0, at) + hidden(own.slice(at));
    })
    .join("\n");
}

const isPasted = (line: string): boolean => PASTED.some((mark) => mark.test(line));

const ABBREVIATION = anyOf(WRITING.map(({ abbreviations }) => abbreviations));
const SENTENCE_END = new RegExp(
  String.raw`(?=\s)(?<=(?<!\b(?:[A-Z]|${ABBREVIATION}))[.!?…。！？؟।]["'”’)\]]*)\s+|\n+|(?<=[。！？])|(?<=;)\s+|\s[—–]\s|(?=¿)`,
  "u",
);

/** The sentences of a text, each with its mark. */
export const sentencesOf = (text: string): string[] =>
  text
    .split(SENTENCE_END)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
