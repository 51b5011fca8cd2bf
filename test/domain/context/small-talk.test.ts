// Which messages of a chat need no memory.
import { describe, expect, it } from "vitest";
import { isSmallTalk } from "../../../src/domain/context/small-talk.ts";

describe("a message is small talk if it", () => {
  it.each([
    ["greets", "Hello Ann!", "good evening", "hey, how's it going?", "morning", "yo whats up"],
    [
      "thanks or apologises",
      "thank you so much",
      "Thanks, Ann",
      "sorry, my fault",
      "tysm!!",
      "You're too kind",
    ],
    [
      "agrees or declines",
      "yesss",
      "ok, go ahead",
      "Sounds like a plan",
      "no way",
      "I guess not",
      "fair enough",
    ],
    ["judges", "That was really funny", "wow… that is wild", "you are so smart", "this sucks"],
    ["tells a mood", "I'm bored", "so tired today, ugh", "I won't give up"],
    [
      "is about the talk",
      "one sec",
      "I'm back",
      "please go on",
      "wrong window, sorry",
      "are you still there?",
    ],
    ["asks about the assistant", "are you a real person?", "can you hear me?", "do you like me?"],
    ["parts", "see you on Monday!", "gotta run, bye", "Good Night", "catch you later", "have a nice weekend"],
    ["laughs", "hahaha", "jajajaja", "LOL", "хахаха", "kkkkk"],
    ["has no word", "👍", "???", ":)", "…"],
    ["is German", "Vielen Dank!", "Gute Nacht, bis morgen", "Wie geht es dir?"],
    ["is French", "Très bien, merci", "à bientôt", "ça va ?"],
    ["is Spanish or Portuguese", "¡Hasta mañana!", "muito obrigada", "¿Cómo estás?"],
    ["is Italian or Dutch", "Buona serata", "hoe gaat het?"],
    ["is Swedish, Polish or Turkish", "Tack så mycket", "dzień dobry", "iyi geceler"],
    ["is in Greek or Cyrillic letters", "Καλημέρα", "Большое спасибо!", "дуже дякую"],
    ["is in Arabic, Hebrew or Devanagari", "شكرا لك", "בוקר טוב", "शुभ रात्रि"],
    [
      "is in a script without spaces",
      "本当にありがとうございました",
      "好的，谢谢",
      "네, 감사합니다",
      "สวัสดีครับ",
    ],
  ])("%s", (_, ...messages) => {
    expect(messages.filter((message) => !isSmallTalk(message))).toEqual([]);
  });
});

describe("a message is about something if it", () => {
  it.each([
    ["has a topic", "dinner", "I can't sleep", "we won!", "it's my birthday", "The rent is due", "my day"],
    ["has a name or a number", "Wilf limps a bit", "haha, Lisbon", "ok, 7 then", "yes, the one from Ann"],
    ["names a day", "on Friday", "We start on Monday", "Tuesday is better"],
    ["asks", "what should I do?", "Who am I?", "what's wrong with him?", "when is it?", "How is the house?"],
    ["asks for what was said", "what did I say yesterday?", "what do you know about me?"],
    ["tells a need", "I feel lonely", "I'm hungry", "I have a cold", "you said tea"],
    [
      "begins with a courtesy",
      "Hi, I need a plumber",
      "thanks, and the dentist?",
      "Good morning, what's for dinner?",
    ],
    ["gives an order", "Let's commit this", "book it", "Draft an answer to her"],
    ["is long", `thanks, ${"so very much, really, ".repeat(20)}`],
    [
      "is German",
      "Wo wohne ich?",
      "Was mache ich morgen?",
      "Ich koche heute Abend",
      "Wann habe ich Geburtstag?",
    ],
    [
      "is French or Spanish",
      "Je cuisine ce soir",
      "Où est-ce que j'habite ?",
      "¿Qué día es hoy?",
      "Cocino esta noche",
    ],
    [
      "is in another script",
      "他对什么过敏",
      "我住在哪里？",
      "私はどこに住んでいますか",
      "Где я живу?",
      "أين أسكن؟",
    ],
  ])("%s", (_, ...messages) => {
    expect(messages.filter(isSmallTalk)).toEqual([]);
  });
});
