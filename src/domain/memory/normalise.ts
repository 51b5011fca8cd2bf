/** A text for comparison, without case, width and extra spaces. */
export const normalise = (text: string): string =>
  text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
