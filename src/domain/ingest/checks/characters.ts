/** Characters that nobody sees: they hide words from people, or change their order. Joiners belong to emoji and to some scripts. */
const HIDDEN =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|[\p{L}\p{N}][\u200c\u200d][a-zA-Z]|[a-zA-Z][\u200c\u200d]/u;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u;
/** A word of letters that look alike in two scripts. */
const MIXED =
  /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u;
/** Letters that are drawn as others: mathematical and fullwidth ones, and those in circles. */
const STYLED = /[\u{1d400}-\u{1d7ff}\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9\u{1f130}-\u{1f189}]/u;

/** True if a text holds characters that make it read otherwise than it looks. */
export const hidesSomething = (text: string): boolean =>
  HIDDEN.test(text) || CONTROL.test(text) || MIXED.test(text) || STYLED.test(text);
