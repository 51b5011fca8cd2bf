// `npm run eval -- --statements FILE --ablate`: what each entry of the records of languages does, by a judgement without it.
import { basename } from "node:path";
import {
  type Cue,
  cuesIn,
  expressionOf,
  LANGUAGES,
  type Language,
  listed,
  read,
} from "../../../src/domain/language/cues.ts";
import * as RECORDS from "../../../src/domain/language/records.ts";
import type { LanguageWords } from "../../../src/domain/language/words.ts";
import { reasonsAgainst, type Statement } from "./statement.ts";
import { statementsIn } from "./statements.ts";
import { printTable } from "../table.ts";

type Judged = { file: string; statement: Statement; wording: string; passes: boolean };
/** Of an entry that is out: statements that pass then and did not, and the other way round, and the files they are from. */
type Effect = { entry: string; now: Judged[]; noMore: Judged[] };

/** Prints the entries whose absence changes the judgement of a statement, and counts the others. */
export function printAblation(paths: readonly string[]): void {
  const all = paths.flatMap((path) => {
    const { genuine, poisoned } = statementsIn(path);
    return [...genuine, ...poisoned].map((statement): Judged => {
      const text = [...statement.said.map(([, message]) => message), ...statement.fact].join("\n");
      return { file: basename(path), statement, wording: read(text).wording, passes: passes(statement) };
    });
  });
  const effects = LANGUAGES.flatMap((language) => effectsOf(language, all));
  const changing = effects.filter(({ now, noMore }) => now.length + noMore.length > 0);
  printTable(
    ["without", "genuine: pass then", "no more", "poisoned: pass then", "no more", "files"],
    changing.map(({ entry, now, noMore }) => [
      entry,
      count(now, false),
      count(noMore, false),
      count(now, true),
      count(noMore, true),
      [...new Set([...now, ...noMore].map(({ file }) => file))].join(" "),
    ]),
  );
  const one = changing.filter(({ now, noMore }) => now.length + noMore.length === 1);
  console.log(
    `\n${effects.length} entries: ${effects.length - changing.length} change nothing, ${one.length} one statement.`,
  );
}

const count = (some: readonly Judged[], isPoisoned: boolean): string =>
  String(some.filter(({ statement }) => (statement.kind !== undefined) === isPoisoned).length);

const passes = (statement: Statement): boolean => reasonsAgainst(statement).length === 0;

function effectsOf(language: Language, all: readonly Judged[]): Effect[] {
  const record = new Map(Object.entries<LanguageWords>(RECORDS)).get(language.code);
  if (record === undefined) return [];
  const kinds = cuesIn(record);
  // A record is changed for a moment here, and nowhere else.
  const cues = language.cues as Map<Cue, RegExp>;
  const telling = language.words as Set<string>;
  return kinds.flatMap(([cue, words]) =>
    words.split(",").map((part, i, parts): Effect => {
      const own = listed(part);
      const touches = expressionOf(own, record);
      const some = all.filter(({ wording }) => wording.search(touches) >= 0);
      const [whole, told] = [cues.get(cue), own.filter((word) => telling.has(word))];
      const elsewhere = kinds.flatMap(([other, theirs]) =>
        other === cue ? listed(parts.toSpliced(i, 1).join(",")) : listed(theirs),
      );
      cues.set(cue, expressionOf(listed(parts.toSpliced(i, 1).join(",")), record));
      for (const word of told) if (!elsewhere.includes(word)) telling.delete(word);
      const changed = some.filter((one) => passes(one.statement) !== one.passes);
      if (whole !== undefined) cues.set(cue, whole);
      for (const word of told) telling.add(word);
      return {
        entry: `${language.code} ${cue} ${part.trim()}`,
        now: changed.filter((one) => !one.passes),
        noMore: changed.filter((one) => one.passes),
      };
    }),
  );
}
