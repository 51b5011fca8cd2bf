import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WordModel } from "../../../src/platform/embeddings/embedded/word-model.ts";
import { split } from "../../../src/platform/embeddings/split.ts";
import { estimatedTokens } from "../../../src/platform/embeddings/tokens.ts";
import demo from "../../../examples/moving-house.json";
import { anyCharacter } from "../../any-character.ts";

/** Of articles 1 and 3 of the Universal Declaration of Human Rights, and what else is remembered. */
const written = [
  "All human beings are born free and equal in dignity and rights.",
  "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Donaudampfschifffahrtsgesellschaft!",
  "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
  "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền.",
  "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
  "Все люди рождаются свободными и равными в своем достоинстве и правах.",
  "Jeder hat das Recht auf Leben, Freiheit und Sicherheit der Person.",
  "人人生而自由,在尊严和权利上一律平等。",
  "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
  "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق",
  "const answer = await fetch(`https://api.example.com/v1/users/${id}?page=2`, { method: 'POST' });",
  "sk-proj-4bC9dEfGhIjKlMnOpQrStUvWxYz0123456789 d41d8cd98f00b204e9800998ecf8427e 2024-05-17T08:30:00Z",
];

describe("the estimate of tokens", () => {
  it("is not below what WordPiece makes of what people write, and not far above it for English", async () => {
    const model = await new WordModel().get(env.ASSETS);
    for (const text of written)
      expect(estimatedTokens(text), text).toBeGreaterThanOrEqual(model.pieces(text).length);
    const said = demo.conversations.map((one) => JSON.stringify(one)).join();
    const ratio = estimatedTokens(said) / model.pieces(said).length;
    expect(ratio).toBeGreaterThan(1.2);
    expect(ratio).toBeLessThan(2);
  });

  it("is the bytes of what is no Latin word, of which no tokenizer makes more", () => {
    for (const text of ["日本語", "🙂🙂", "1234567890", "!?!?", "aGVsbGVydbGQ", "x".repeat(30)])
      expect(estimatedTokens(text)).toBe(new TextEncoder().encode(text).byteLength);
  });

  it("adds up: a text has no more than its parts have", () => {
    const text = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(text, text, (a, b) => {
        // A word that is cut in two may look like two words.
        const whole = estimatedTokens(`${a} ${b}`);
        expect(whole).toBeLessThanOrEqual(estimatedTokens(a) + estimatedTokens(" ") + estimatedTokens(b));
      }),
    );
  });
});

describe("a text that is too long", () => {
  const anything = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 400 }),
    fc
      .array(fc.constantFrom(...written, "\n", " ", "x".repeat(99), "🙂"), { maxLength: 8 })
      .map((all) => all.join("")),
  );

  it("is cut into pieces that fit, nothing lost and nothing twice", () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 4, max: 120 }), (text, limit) => {
        const pieces = split(text, limit);
        expect(pieces.join("")).toBe(text);
        for (const piece of pieces) expect(estimatedTokens(piece)).toBeLessThanOrEqual(limit);
      }),
    );
  });

  it("is cut between sentences, else between words, else inside a word", () => {
    const sentences = "The cat sleeps. The dog barks. The cow sings.";
    expect(split(sentences, 10)).toEqual(["The cat sleeps. ", "The dog barks. ", "The cow sings."]);
    expect(split("one two three four", 4.5)).toEqual(["one two ", "three four"]);
    expect(split("日本語", 4)).toEqual(["日", "本", "語"]);
    expect(split("🙂🙂", 4)).toEqual(["🙂", "🙂"]);
  });

  it("is one piece while it fits", () => {
    expect(split("short", 4)).toEqual(["short"]);
    expect(split("", 4)).toEqual([""]);
  });
});
