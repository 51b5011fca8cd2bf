// Questions as people write them: inside polite sentences, and with a typo.

/** Wrappings that the rules of recall were written with. */
const KNOWN: readonly [before: string, after: string][] = [
  ["Hi there, hope you are well! I was wondering, could you please tell me:", "Thanks a lot in advance!"],
  ["Good morning! Quick question if you have a second.", "I would really appreciate your help."],
  [
    "Hello, sorry to bother you again. Do you happen to remember this?",
    "Thank you so much, have a great day!",
  ],
  ["Hey, I hope your week is going well.", "Please let me know when you can. Cheers!"],
  ["I have been trying to remember something.", "It would be great if you could help me out."],
  ["Hi! Can you help me with something real quick?", "No rush at all, take your time. Thanks!"],
  ["Greetings! May I ask you something?", "Much obliged, and all the best to you."],
  ["Hey buddy, long time no see!", "Let me know if anything comes to mind, thx."],
  ["Good evening. I'd love to pick your brain for a moment.", "Whatever you can find would be wonderful."],
  ["Yo, what's up? My memory is failing me today.", "You're the best, seriously!"],
  [
    "Dear assistant, I trust this message finds you well.",
    "Kind regards and many thanks for your assistance.",
  ],
  ["Ok so this is a bit of a random one.", "Sorry if I have asked this before!"],
  ["Hey! I was chatting with my sister and this came up.", "Would be super grateful for an answer!"],
  ["Evening! Could I trouble you for something?", "Appreciate you, as always."],
  ["Hello there, it's me again.", "That would really make my day, thank you."],
  ["Hope all is good on your side. I keep forgetting this.", "Please be as brief as you like."],
  ["Excuse me, would you mind looking something up?", "Sorry for the trouble and have a lovely afternoon."],
  ["Pardon the interruption, I have a small request.", "Any hint is welcome. Best wishes!"],
  ["Hey team, hope everyone had a restful break.", "Looking forward to hearing from you!"],
  ["Sorry, one more thing before I go.", "Take care and talk soon."],
  ["Would you be so kind as to answer the following?", "With gratitude."],
  ["Just checking in about something from earlier.", "No worries if not!"],
  ["I bet you know this one.", "Fingers crossed, and thanks again."],
  ["Hiya! Got a sec?", "You rock, thank you!!"],
];

/** Wrappings that no rule was written with: the figure to look at. */
const HELD_OUT: typeof KNOWN = [
  ["Hi, sorry for the late message.", "Thanks a million, you're awesome."],
  ["Good afternoon, I trust you're doing great.", "I look forward to your reply."],
  ["Hey, it's been a while!", "Cheers mate."],
  ["Quick one for you:", "Thanks in anticipation!"],
  ["I know you're busy, but could you help with this?", "It would mean a lot to me."],
  ["Hope I'm not asking too much.", "Thank you kindly for your time and patience."],
];

const wrapped = (wrappings: typeof KNOWN) => (query: string, i: number) => {
  const [before, after] = wrappings[i % wrappings.length] ?? ["", ""];
  return `${before} ${query} ${after}`;
};

/** A swap, a drop, a double or another letter, in turn, somewhere in the longest word. */
function mistyped(query: string, i: number): string {
  const words = [...query.matchAll(/[a-z]+/giu)];
  const longest = words.reduce(
    (one, other) => (other[0].length > one[0].length ? other : one),
    words[0] ?? { 0: "", index: 0 },
  );
  const [word, start] = [longest[0], longest.index];
  if (word.length < 4) return query;
  const random = (Math.imul(i + 1, 1_664_525) + 1_013_904_223) >>> 0;
  // A swap needs a letter behind it.
  const at = Math.floor((random / 2 ** 32) * (word.length - 1));
  const [before, letter, next, after] = [
    word.slice(0, at),
    word[at] ?? "",
    word[at + 1] ?? "",
    word.slice(at + 2),
  ];
  const other = String.fromCodePoint(97 + (random % 26));
  const typo = [
    `${next}${letter}`,
    next,
    `${letter}${letter}${next}`,
    `${other === letter ? "q" : other}${next}`,
  ][i % 4];
  return `${query.slice(0, start)}${before}${typo}${after}${query.slice(start + word.length)}`;
}

export type Phrasing = (query: string, i: number) => string;

export const wrappings: Readonly<Record<string, Phrasing>> = {
  "in polite sentences": wrapped(KNOWN),
  "in polite sentences, held out": wrapped(HELD_OUT),
};
export const typos: Readonly<Record<string, Phrasing>> = { "with a typo": mistyped };
