/** A text as it is compared: what differs in case, width or spaces only is the same. */
export const normalise = (text: string): string =>
  text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
