/** A part of a text, in UTF-16 code units; `end` is not part of it. */
export type Passage = { start: number; end: number };

/** Characters of a passage. A text of up to half as many more is not cut. */
const TARGET = 300;
const WHOLE = 1.5 * TARGET;
/** A match begins at a space or at a full stop without one, so that a long run of marks is read once. */
const SENTENCE_END = /[。！？]\s*|(?<=[.!?。！？]["'”’)\]]{0,3})\s+/gu;

/** True for a text that is cut. */
export const isLong = (text: string): boolean => text.length > WHOLE;

/** Cuts a text at lines, then at sentences, then at spaces into passages of some hundred characters. */
export function passagesOf(text: string): Passage[] {
  if (!isLong(text)) return [{ start: 0, end: text.length }];
  const passages: Passage[] = [];
  let start = 0;
  for (const { end } of parts(text)) {
    const last = passages.at(-1);
    if (last !== undefined && end - last.start <= TARGET) last.end = end;
    else passages.push({ start, end });
    start = end;
  }
  return passages;
}

function* parts(text: string): Generator<Passage> {
  for (const line of partsAt(text, /\n+/g)) {
    if (line.end - line.start <= TARGET) {
      yield line;
      continue;
    }
    for (const sentence of partsAt(text.slice(line.start, line.end), SENTENCE_END))
      yield* within(text, line.start + sentence.start, line.start + sentence.end);
  }
}

/** A sentence, or its pieces if it is long. */
function* within(text: string, start: number, end: number): Generator<Passage> {
  let from = start;
  while (end - from > WHOLE) {
    const space = text.slice(from, from + TARGET + 1).lastIndexOf(" ");
    const to =
      space > TARGET / 2
        ? from + space + 1
        : from + TARGET - Number(isHighSurrogate(text, from + TARGET - 1));
    yield { start: from, end: to };
    from = to;
  }
  yield { start: from, end };
}

/** The parts of a text, each with the border at its end. */
function* partsAt(text: string, border: RegExp): Generator<Passage> {
  let start = 0;
  for (const match of text.matchAll(border)) {
    const end = match.index + match[0].length;
    yield { start, end };
    start = end;
  }
  if (start < text.length) yield { start, end: text.length };
}

const isHighSurrogate = (text: string, at: number): boolean => /[\uD800-\uDBFF]/.test(text[at] ?? "");
