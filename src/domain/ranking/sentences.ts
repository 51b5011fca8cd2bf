/** Between two sentences: a mark may be followed by what closes around it. Scripts without spaces have none behind their marks. */
const BETWEEN = /(?<=[.!?…؟।][\p{Pe}\p{Pf}"']{0,3})\s+|(?<=[。！？])|\n+/u;

/** The sentences and lines of a text. */
export const sentencesOf = (text: string): string[] => text.split(BETWEEN);
