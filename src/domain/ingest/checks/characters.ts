/** Soft hyphens, joiners between words, directions, invisible letters, marks of annotations, tags: nobody sees them. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;
/** Joiners and variations within emoji, and joiners within scripts that write with them, belong there. */
const FITTING =
  /\p{Extended_Pictographic}(?:\u200d|\ufe0f|\p{Emoji_Modifier}|\p{Extended_Pictographic})*|(?<=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Sinhala}])[\u200c\u200d](?=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Sinhala}])|[0-9#*]\ufe0f\u20e3/gu;
const CONTROL = /(?![\t\n\r])\p{Cc}/u;
/** A word of letters that look alike in two scripts. */
const MIXED =
  /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u;
/** Letters that are drawn as others: mathematical and fullwidth ones, and those in circles. */
const STYLED = /[\u{1d400}-\u{1d7ff}\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9\u{1f130}-\u{1f189}]/u;

/** True if a text holds characters that make it read otherwise than it looks. */
export const hidesSomething = (text: string): boolean =>
  HIDDEN.test(text.replaceAll(FITTING, "")) || CONTROL.test(text) || MIXED.test(text) || STYLED.test(text);
