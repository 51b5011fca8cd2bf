/** Soft hyphens, joiners between words, directions, invisible letters, marks of annotations, tags: nobody sees them. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;
/** Letters of scripts that write with joiners. */
const JOINED = String.raw`[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Sinhala}]`;
/** The flags of England, Scotland and Wales are spelled with tags. */
const FLAGS = String.raw`\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`;
/** Joiners and variations within emoji, and joiners within those scripts, belong there. */
const FITTING = new RegExp(
  String.raw`${FLAGS}|\p{Extended_Pictographic}(?:\u200d|[\ufe0e\ufe0f]|\p{Emoji_Modifier}|\p{Extended_Pictographic})*|(?<=${JOINED})[\u200c\u200d](?=${JOINED})|[0-9#*]\ufe0f\u20e3`,
  "gu",
);
const CONTROL = /(?![\t\n\r])\p{Cc}/u;
/** A word of letters that look alike in two scripts. */
const MIXED =
  /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u;
/** Letters that are drawn as others: mathematical ones, and those in circles. Fullwidth ones are typed with scripts of the East. */
const STYLED = /[\u{1d400}-\u{1d7ff}\u24b6-\u24e9\u{1f130}-\u{1f189}]/u;

/** True if a text holds characters that make it read otherwise than it looks. */
export function hidesSomething(text: string): boolean {
  const rest = text.replaceAll(FITTING, "");
  return HIDDEN.test(rest) || CONTROL.test(text) || MIXED.test(text) || STYLED.test(rest);
}
