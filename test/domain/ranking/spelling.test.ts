// The correction of typos finds what the slow and plain way finds, with less work.
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { stemmer } from "stemmer";
import { beforeAll, expect, it, vi } from "vitest";
import { corrections, knownCorrection } from "../../../src/domain/ranking/spelling.ts";
import type { EmbeddedModel } from "../../../src/platform/embeddings/embedded/model.ts";
import { WordModel } from "../../../src/platform/embeddings/embedded/word-model.ts";
import { Vocabulary } from "../../../src/platform/embeddings/embedded/vocabulary.ts";
import { newUser } from "../../call.ts";
import { recall, remember } from "../../memory-calls.ts";

const LETTERS = "a b c d e f g h i j k l m n o p q r s t u v w x y z".split(" ");
const NAMES =
  "zoltan kowalczyk brzezinski okonkwo thorvald sorensen ximenes siobhan mleanie annika bartosz feline alergic restuarant volunteeering tomorow adress definately hapiness bicylce kelly sophei lauralee".split(
    " ",
  );
/** Each of these with one typo: at the beginning, in the middle, at the end. */
const TYPOS = "restaurant allergies ability hobby running generalization electricity quickly"
  .split(" ")
  .flatMap((word) =>
    [0, Math.floor(word.length / 2), word.length - 2].flatMap((at) => [
      word.slice(0, at) + word.slice(at + 1),
      `${word.slice(0, at)}q${word.slice(at)}`,
      `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`,
    ]),
  );

let model: EmbeddedModel;
beforeAll(async () => {
  model = await new WordModel().get(env.ASSETS);
});

function editsOf(word: string): string[] {
  const places = Array.from(
    { length: word.length + 1 },
    (_, i) => [word.slice(0, i), word.slice(i)] as const,
  );
  return places.flatMap(([before, after]) => [
    ...(after.length > 1 ? [`${before}${after[1]}${after[0]}${after.slice(2)}`] : []),
    ...(after === "" ? [] : [`${before}${after.slice(1)}`]),
    ...LETTERS.flatMap((letter) => [
      `${before}${letter}${after}`,
      ...(after === "" ? [] : [`${before}${letter}${after.slice(1)}`]),
    ]),
  ]);
}

/** Cuts each edit into pieces, and takes the most common of those that are one. */
function plainCorrection(word: string): string | null {
  const known = (word.length < 6 ? [] : editsOf(word))
    .map((edit) => ({ edit, rows: model.pieces(edit) }))
    .flatMap(({ edit, rows: [row = 0, ...others] }) =>
      row > 0 && others.length === 0 ? [{ edit, row }] : [],
    )
    .toSorted((a, b) => a.row - b.row);
  const [best] = known;
  return best !== undefined && (best.row < 7_000 || model.pieces(word).length > 2) ? best.edit : null;
}

it("corrects by the word model as if each edit were cut into pieces", () => {
  const words = [...NAMES, ...TYPOS];
  const found = words.map((word) => [word, model.correction(word)]);
  expect(found).toEqual(words.map((word) => [word, plainCorrection(word)]));
  expect(found.filter(([, one]) => one !== null).length).toBeGreaterThan(20);
  expect(found.filter(([, one]) => one === null).length).toBeGreaterThan(10);
});

it("finds each edit of which the stem is a term, whatever its ending", () => {
  const ending = fc.constantFrom(
    ..."s es ed ing y i e al er ator alism ic ful ance ant ent ou ism ion ation ll eed ness ility ousli".split(
      " ",
    ),
  );
  const word = fc
    .tuple(
      fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 2, maxLength: 8 }),
      ending,
      fc.option(ending),
    )
    .map(([begin, one, other]) => `${begin}${one}${other ?? ""}`);
  fc.assert(
    fc.property(word, fc.nat(), (meant, which) => {
      const typo = editsOf(meant)[which % editsOf(meant).length] ?? "";
      const stem = stemmer(meant);
      const stemmed = editsOf(typo).filter((edit) => stemmer(edit) === stem && edit !== typo);
      const found = corrections(typo, [{ term: stem, documents: 1 }], null);
      expect(found).toEqual(expect.arrayContaining(stemmed));
    }),
    { numRuns: 50 },
  );
});

it("looks each edit up once, and cuts none into pieces", () => {
  const looked: string[] = [];
  const cut: string[] = [];
  knownCorrection("zoltanek", {
    row: (word) => void looked.push(word),
    pieces: (word) => {
      cut.push(word);
      return [9, 9];
    },
  });
  expect(looked).toHaveLength(editsOf("zoltanek").length);
  expect(cut.length).toBeLessThanOrEqual(1);
});

it("looks up nothing for a word that it looked up before", async () => {
  const other = await new WordModel().get(env.ASSETS);
  const row = vi.spyOn(Vocabulary.prototype, "row");
  expect(other.correction("okonkwoq")).toBeNull();
  expect(row.mock.calls.length).toBeGreaterThan(400);
  row.mockClear();
  expect(other.correction("okonkwoq")).toBeNull();
  expect(row).not.toHaveBeenCalled();
  row.mockRestore();
});

it("cuts a few words of a recall with an unknown name into pieces", async () => {
  const user = newUser();
  await remember(user, { text: "Ann lives in Lisbon" });
  const cut = vi.spyOn(Vocabulary.prototype, "cut");
  await recall(user, { query: "Where does Zbygniewowa live?" });
  expect(cut.mock.calls.length).toBeGreaterThan(0);
  expect(cut.mock.calls.length).toBeLessThan(60);
  cut.mockRestore();
});
