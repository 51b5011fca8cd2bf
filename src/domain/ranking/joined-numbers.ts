/** Groups of digits with one or two spaces or marks between them, as people write the number of a phone or an account. */
const GROUPS = /(?<!\d)\d+(?:[ ().-]{1,2}\d+)+/gu;
/** A shorter number has no groups: it is several. Nor has a longer one. */
const [SHORTEST, LONGEST] = [7, 20];
const DATE = /^(?:\d{4}-(?:\d\d-\d\d|\d{4}$)|\d{1,2}\.\d{1,2}\.\d{4}$)/;

/** A text with each number in groups as one word: "07700900123" for "07700 900123". */
export const withJoinedNumbers = (text: string): string =>
  text.replaceAll(GROUPS, (number) => joined(number) ?? number);

/** The numbers that a text writes in groups, each as one word. */
export const joinedNumbers = (text: string): string[] =>
  (text.match(GROUPS) ?? []).flatMap((number) => joined(number) ?? []);

function joined(number: string): string | null {
  const digits = number.replaceAll(/\D/gu, "");
  return digits.length < SHORTEST || digits.length > LONGEST || DATE.test(number) ? null : digits;
}
