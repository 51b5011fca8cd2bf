const COUNT = new Intl.NumberFormat();
const COMPACT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

const DOLLARS = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD" });

export const count = (n: number): string => COUNT.format(n);
export const compact = (n: number): string => COMPACT.format(n);
export const percent = (share: number): string => `${Math.round(share * 100)} %`;
/** To the cent. Less than half of one is not nothing. */
export const dollars = (n: number): string =>
  n > 0 && n < 0.005 ? `below ${DOLLARS.format(0.01)}` : DOLLARS.format(n);
export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;

export function bytes(n: number): string {
  const units = ["B", "KB", "MB", "GB"];
  const power = n < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(n) / 3));
  return `${(n / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power] ?? ""}`;
}
