import { namesSecret } from "../../language/cues.ts";

const KEYS =
  /\b(?:sk|pk|ghp|gho|xox[abp]|AKIA|eyJ)[-_]?[A-Za-z0-9_-]{12,}|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b|\b0x[0-9a-fA-F]{16,}|\b\d{3}-\d{2}-\d{4}\b|\b(?:PIN|pin)\P{L}{0,3}\d{4}/u;
/** Letters and digits without a space: a key if it has both. */
const RUN = /[A-Za-z0-9+/_-]{28,}/gu;
/** Groups of digits, and a date behind them. */
const DIGITS = /(?<![\p{L}\d])\d(?:[ -]?\d)+/gu;
/** Digits of a card's number. */
const CARD = { least: 13, most: 19 };

/** True if a text holds or names a secret: a password, a key, the number of a card or an account. */
export function holdsSecret(text: string): boolean {
  const plain = text.normalize("NFKC");
  return (
    namesSecret(plain) ||
    KEYS.test(plain) ||
    (plain.match(RUN) ?? []).some(isKey) ||
    (plain.match(DIGITS) ?? []).some(holdsCard)
  );
}

/** An expression that looks ahead for both at each place would read the rest of a run from each. */
const isKey = (run: string): boolean => {
  const key = run.replace(/^[+/-]+/u, "");
  return key.length >= 28 && /\d/u.test(key) && /[A-Za-z]/u.test(key);
};

/** True if some of the groups of digits, one behind the other, are a card's number: a date may stand beside it. */
function holdsCard(run: string): boolean {
  const groups = run.split(/[ -]/u);
  return groups.some((_, from) => {
    let digits = "";
    for (const group of groups.slice(from, from + CARD.most)) {
      digits += group;
      if (digits.length > CARD.most) return false;
      if (digits.length >= CARD.least && hasCheckDigit(digits)) return true;
    }
    return false;
  });
}

/** The check digit of card numbers (Luhn). */
function hasCheckDigit(text: string): boolean {
  const sum = Array.from(text, Number)
    .toReversed()
    .reduce((total, digit, i) => {
      const doubled = i % 2 === 1 ? digit * 2 : digit;
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return sum % 10 === 0;
}
