import { folded } from "../../ranking/fold.ts";

const NAMES =
  /\b(?:pass ?word|pass ?phrase|pass ?code|passwort|mot de passe|contrasena|senha|parola d'ordine|wachtwoord|losenord|haslo|пароль|sifre|api[ _-]?key|secret key|private key|access[ _-]?token|auth[ _-]?token|bearer|seed phrase|recovery (?:phrase|code|key)|mnemonic|pin (?:code|number|is)|pin-?code|cvv|cvc|security code|social security|ssn|account number|bank account|routing number|sort code|iban|kontonummer|credit card|debit card|card number|kreditkarte|carte bancaire|tarjeta|cartao de credito|carta di credito|crypto wallet|wallet address|2fa|one-?time code|otp)\b|密码|密碼|パスワード|비밀번호/u;
const KEYS =
  /\b(?:sk|pk|ghp|gho|xox[abp]|AKIA|eyJ)[-_]?[A-Za-z0-9_-]{12,}|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b|\b0x[0-9a-fA-F]{16,}|\b\d{3}-\d{2}-\d{4}\b/u;
/** Letters and digits without a space: a key if it has both. */
const RUN = /[A-Za-z0-9+/_-]{28,}/gu;
const CARD = /\b\d(?:[ -]?\d){12,18}\b/gu;

/** True if a text holds or names a secret: a password, a key, the number of a card or an account. */
export const holdsSecret = (text: string): boolean =>
  NAMES.test(folded(text)) ||
  KEYS.test(text) ||
  (text.match(RUN) ?? []).some(isKey) ||
  (text.match(CARD) ?? []).some(isCardNumber);

/** An expression that looks ahead for both at each place would read the rest of a run from each. */
const isKey = (run: string): boolean => {
  const key = run.replace(/^[+/-]+/u, "");
  return key.length >= 28 && /\d/u.test(key) && /[A-Za-z]/u.test(key);
};

/** The check digit of card numbers (Luhn). */
function isCardNumber(text: string): boolean {
  const digits = Array.from(text.replaceAll(/\D/gu, ""), Number).toReversed();
  const sum = digits.reduce((total, digit, i) => {
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
