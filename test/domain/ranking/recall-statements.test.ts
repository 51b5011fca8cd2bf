// What a hit states: echoes of the question, replies, later statements on the same matter, and the confidence in all of it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { remember, rememberMany, type Seen } from "../../memory-calls.ts";
import { append, create, say } from "../../thread-calls.ts";

const DAY = 86_400_000;
const MARCH = Date.UTC(2026, 2, 2, 9);

beforeEach(() => {
  control.embedsNow = true;
});
afterEach(restore);

type Found = { hits: (Seen & { replacedAt?: number })[]; confidence: number; abstained?: true };
const ask = async (user: string, json: object): Promise<Found> =>
  (await call(`/v1/users/${user}/recall`, { json })).body;
const firstOf = async (user: string, query: string, more: object = {}): Promise<string | undefined> =>
  (await ask(user, { query, ...more })).hits[0]?.text;
const confidenceOf = async (user: string, query: string): Promise<number> =>
  (await ask(user, { query })).confidence;

/** A user who said these texts, a day apart, each in a thread of its own. */
async function whoSaid(...texts: string[]): Promise<string> {
  const user = newUser();
  for (const [i, content] of texts.entries()) {
    const thread = await create(user);
    await append(thread.id, [{ role: "user", content }], { createdAt: MARCH + i * DAY });
  }
  return user;
}
/** A user with these memories, a day apart. */
async function whoHas(...texts: string[]): Promise<string> {
  const user = newUser();
  await rememberMany(
    user,
    texts.map((text, i) => ({ text, createdAt: MARCH + i * DAY })),
  );
  return user;
}
const OTHERS = [
  "The kettle needs descaling every month.",
  "We keep the sledges in the attic.",
  "The neighbour's cockerel crows at five.",
  "Parking costs two euros an hour.",
];

describe("an echo of the question", () => {
  it("stays one beside a sentence about something else", async () => {
    const user = await whoSaid(
      "The bike shed opens with 7741.",
      ...OTHERS,
      "I lost the slip. What is the code for the bike shed, please?",
    );
    expect(await firstOf(user, "What is the code for the bike shed?")).toBe("The bike shed opens with 7741.");
  });

  it("ranks below what answers it, in whatever form it asks", async () => {
    const user = await whoSaid(
      "The bike shed opens with 7741.",
      ...OTHERS,
      "code for the bike shed",
      "bike shed code please",
      "Need the code of the bike shed, I'm standing outside!",
    );
    expect(await firstOf(user, "What is the code of the bike shed?")).toBe("The bike shed opens with 7741.");
  });

  it("lends its rank to the reply", async () => {
    const user = await whoSaid(...OTHERS);
    const { id } = await create(user);
    await append(id, [
      say("Where did we put the drill bits?"),
      say("In the drawer under the microwave.", "assistant"),
    ]);
    expect(await firstOf(user, "Where are the drill bits?")).toBe("In the drawer under the microwave.");
  });

  it("is an answer if it states something behind the question", async () => {
    const user = await whoSaid(...OTHERS, "Which cake can I bake for Mira, since she can't have sesame?");
    expect(await firstOf(user, "What can't Mira have?")).toContain("Mira");
  });

  it.each([
    ["Will is allergic to shellfish.", "What is Will allergic to?"],
    ["When I'm in Rome I stay at Hotel Sole.", "Which hotel do I take in Rome?"],
    ["Please call me Benny.", "What should you call me?"],
    ["Can't eat gluten.", "What can't I eat?"],
    ["I don't have a car.", "Which car do I have?"],
    ["I have no idea how to swim.", "Can I swim?"],
    ["Ana is the one who sings at weddings.", "Who sings at weddings?"],
    ["The safe word is perfect.", "What is the safe word?"],
    ["Am Sonntag Zahnarzt.", "Wann Zahnarzt?"],
  ])("is not what states something: %s", async (text, query) => {
    expect(await firstOf(await whoSaid(text, ...OTHERS), query)).toBe(text);
  });

  it("is none if it states what the question asks to be told of, yes or no", async () => {
    const user = await whoSaid("The bike shed is locked on Mondays.", ...OTHERS, "On Mondays I bake.");
    expect(await firstOf(user, "Is the bike shed locked on Mondays?")).toContain("is locked");
  });

  it("says nothing where an assistant denies to know", async () => {
    const user = await whoHas("Invoice terms for the mill: 30 days.", ...OTHERS);
    const { id } = await create(user);
    await append(id, [say("I have no information about payment terms for the mill.", "assistant")]);
    expect(await firstOf(user, "What payment terms do we have with the mill?")).toContain("30 days");
  });

  it("leaves a memory at its place that is the query word for word", async () => {
    const user = await whoHas("sourdough starter", ...OTHERS);
    expect(await firstOf(user, "sourdough starter")).toBe("sourdough starter");
  });
});

describe("a later statement on the same matter", () => {
  const LUNCH = "Dad's birthday lunch is on Sunday 29 March at the Harbour Inn.";
  const MOVED = "The Harbour Inn is full, so Dad's birthday lunch moves to 5 April at the Old Mill.";

  it("comes first, and says when it replaced the earlier one", async () => {
    const user = await whoSaid(LUNCH, ...OTHERS, MOVED);
    const { hits } = await ask(user, { query: "When is Dad's birthday lunch?" });
    expect(hits.slice(0, 2).map(({ text }) => text)).toEqual([MOVED, LUNCH]);
    expect(hits[1]?.replacedAt).toBe(MARCH + 5 * DAY);
    expect(hits[0]).not.toHaveProperty("replacedAt");
  });

  it("is told in a sentence, and stands in a context's block with its end", async () => {
    const user = await whoSaid(LUNCH, ...OTHERS, "When is Dad's birthday lunch?", MOVED);
    const query = "When is Dad's birthday lunch?";
    const { hits } = await ask(user, { query, explain: true });
    const sentences = new Map(hits.map(({ text, why }) => [text, (why as { sentence: string }).sentence]));
    expect(sentences.get(MOVED)).toBe("It is the latest statement on this matter.");
    expect(sentences.get(LUNCH)).toBe("A later statement, of 2026-03-08, seems to replace it.");
    expect(sentences.get(query)).toBe("It asks what the query asks, and says no more.");
    expect((await ask(user, { query })).hits[0]?.why).not.toHaveProperty("sentence");
    const layers = [{ type: "recalled", minScore: 0 }];
    const { recalled } = (await call(`/v1/users/${user}/context`, { json: { query, layers } })).body;
    expect(recalled.text).toContain(`[user said | 2026-03-02 | until 2026-03-08] ${LUNCH}`);
    expect(recalled.text).toContain(`[user said | 2026-03-08] ${MOVED}`);
  });

  it("is told of as replaced where it was changed again", async () => {
    const user = await whoHas(
      "The budget is 80 euros.",
      "The budget is now 90 euros.",
      "The budget is now 95 euros.",
    );
    const { hits } = await ask(user, { query: "What is the budget?", explain: true });
    const sentences = new Map(hits.map(({ text, why }) => [text, (why as { sentence: string }).sentence]));
    expect(sentences.get("The budget is now 90 euros.")).toBe(
      "A later statement, of 2026-03-04, seems to replace it.",
    );
    expect(sentences.get("The budget is now 95 euros.")).toBe("It is the latest statement on this matter.");
  });

  it("comes second if the question is about what was so before, by a word or by a time", async () => {
    const user = await whoSaid(LUNCH, ...OTHERS, MOVED);
    expect(await firstOf(user, "When was Dad's birthday lunch originally?")).toBe(LUNCH);
    const home = await whoHas(
      "My address is 14 Quarry Lane.",
      ...OTHERS,
      "We have moved: my address is 3 Tannery Court.",
    );
    expect(await firstOf(home, "What is my address?")).toContain("Tannery");
    expect(
      await firstOf(home, "What was my address on 3 March 2026?", { referenceDate: MARCH + 40 * DAY }),
    ).toContain("Quarry");
  });

  it("may name the old value and not the matter", async () => {
    const user = await whoHas(
      "I work as a pastry cook at the Linden Hotel.",
      ...OTHERS,
      "I left the Linden Hotel and now run the bakery counter at Moss.",
    );
    expect(await firstOf(user, "Where do I work?")).toContain("Moss");
  });

  it("settles what was only supposed, and leaves an instruction as it is", async () => {
    const supposed = "If the council refuses, we'd pull the greenhouse down.";
    const settled = "The council approved it, so the greenhouse remains.";
    const user = await whoSaid(supposed, ...OTHERS, settled);
    expect(await firstOf(user, "Are we pulling the greenhouse down?")).toBe(settled);
    expect(await firstOf(user, "What did the council decide?")).toBe(settled);
    const rule = "If the greenhouse alarm rings, pull the red lever down.";
    const other = await whoSaid(rule, ...OTHERS, "The alarm was tested today.");
    expect(await firstOf(other, "Which lever do I pull when the greenhouse alarm rings?")).toBe(rule);
  });

  it("settles what was still open", async () => {
    const open = "The bakery still hasn't paid bill 2031.";
    const settled = "Joanna paid the bill this morning, at last.";
    const user = await whoSaid(open, ...OTHERS, settled);
    expect(await firstOf(user, "Has the bakery paid the bill?")).toBe(settled);
    // A state that lasts is not open.
    const lasts = "We haven't paid for the garage since 2019.";
    const other = await whoSaid(lasts, ...OTHERS, "We paid the window cleaner.");
    expect(await firstOf(other, "Have we paid for the garage?")).toBe(lasts);
  });

  it("may leave out a part of what was said before", async () => {
    const moved = "The vet moved it, it's on 17 May at 8:15 now.";
    const user = await whoSaid("The vet appointment is on 3 May at 9:30.", ...OTHERS, moved);
    expect(await firstOf(user, "When is my vet appointment?")).toBe(moved);
  });

  it("rises for what it is about, and for no other question", async () => {
    const changed = "Actually, we changed our minds: NATS instead of Kafka.";
    const user = await whoSaid(
      "We run Kafka for the event bus.",
      "Priya owns the billing service.",
      "Our manager is called Helena.",
      "The standup is at half past nine.",
      changed,
    );
    expect(await firstOf(user, "Which event bus do we run?")).toBe(changed);
    expect(await firstOf(user, "Who is responsible for billing?")).toBe("Priya owns the billing service.");
    expect(await firstOf(user, "When is the standup?")).toBe("The standup is at half past nine.");
  });

  it("is none for having an hour or a day in common", async () => {
    const choir = "The choir sings on Wednesdays at 17:00 and at 19:00.";
    const user = await whoSaid(
      choir,
      ...OTHERS,
      "The plumber cancelled, he'll be here on Wednesday at 19:00 instead.",
    );
    expect(await firstOf(user, "When does the choir sing?")).toBe(choir);
  });

  it("is none if it is about somebody else, about another number, or no change", async () => {
    const dentist = await whoHas(
      "My dentist is Dr Wu on Canal Street.",
      "My sister has changed her dentist, she now goes to Dr Park.",
    );
    expect(await firstOf(dentist, "Who is my dentist?")).toContain("Wu");
    const log = await whoHas(
      "Run on 4 May: ten miles along the canal.",
      "Run on 9 May: left after two miles.",
    );
    expect(await firstOf(log, "What did I run on 4 May?")).toContain("ten miles");
  });

  it.each([
    [
      "The office wifi password is heron-12.",
      "I changed the home wifi password to wren-34.",
      "What is the office wifi password?",
    ],
    [
      "Mia's swimming lesson is on Monday.",
      "Leo's swimming lesson moved to Friday.",
      "When is Mia's swimming lesson?",
    ],
    [
      "The office printer works over the network.",
      "The home printer no longer works.",
      "Does the office printer still work?",
    ],
    [
      "Mia's swimming lesson is on Monday.",
      "Sorry, I meant Leo's swimming lesson is on Friday.",
      "When is Mia's swimming lesson?",
    ],
    ["Anna's birthday is 4 May.", "Anna's birthday present is now wrapped.", "When is Anna's birthday?"],
  ])("is none if it is about another thing: %s", async (holds, other, query) => {
    const { hits } = await ask(await whoHas(holds, ...OTHERS, other), { query });
    expect(hits[0]?.text).toBe(holds);
    expect(hits[0]).not.toHaveProperty("replacedAt");
  });

  it.each([
    ["My son is 6 years old.", "My son is now 7 years old.", "How old is my son?"],
    [
      "I take the blue pill before breakfast.",
      "I now take the white pill before breakfast.",
      "Which pill do I take before breakfast?",
    ],
    ["The shop is open until six.", "The shop is now open until eight.", "Until when is the shop open?"],
  ])("holds for a question of today with a word that can mean the past: %s", async (before, now, query) => {
    expect(await firstOf(await whoHas(before, ...OTHERS, now), query)).toBe(now);
  });

  it("is found by the order of time, and not of writing", async () => {
    const user = newUser();
    await remember(user, { text: "The budget is now 95 euros.", createdAt: MARCH + 9 * DAY });
    await remember(user, { text: "The budget is 85 euros.", createdAt: MARCH });
    expect(await firstOf(user, "What is the budget?")).toBe("The budget is now 95 euros.");
  });
});

describe("a later statement in few words", () => {
  it.each([
    [
      "The coach leaves from gate 12 on Friday.",
      "Sorry, I meant gate 14.",
      "Which gate does the coach leave from?",
    ],
    ["I drink three coffees a day.", "I gave up coffee in July, it is rooibos.", "Do I still drink coffee?"],
  ])("corrects or ends an earlier one: %s", async (before, after, query) => {
    expect(await firstOf(await whoSaid(before, ...OTHERS, after), query)).toBe(after);
  });
});

/** A thread in which people said this. */
async function whereTheySaid(...lines: [name: string, content: string][]): Promise<string> {
  const user = await whoHas(...OTHERS);
  const { id } = await create(user);
  await append(
    id,
    lines.map(([name, content]) => ({ ...say(content), name })),
    { createdAt: MARCH + 20 * DAY },
  );
  return user;
}

describe("whose a statement is", () => {
  it("is an answer to who said it, though it adds nothing to the question", async () => {
    const user = await whereTheySaid(
      ["Hana", "Not me, I'm at a wedding on Saturday."],
      ["Iwan", "I can do the Saturday shift."],
      ["Lupe", "I'm out of town till Sunday."],
    );
    expect(await firstOf(user, "Who can do the Saturday shift?")).toBe("I can do the Saturday shift.");
  });

  it("takes an assistant's advice for nothing that the user did, but for what it advised", async () => {
    const user = newUser();
    const thread = await create(user);
    await append(thread.id, [
      say("Which kayak should I get for the lake?"),
      say("I suggest the Seal 300, it is stable. You could also share one.", "assistant"),
      say("Too wide for me. I picked the Otter instead."),
    ]);
    expect(await firstOf(user, "Which kayak did I get?")).toContain("Otter");
    expect(await firstOf(user, "Which kayak did you suggest?")).toContain("Seal 300");
  });

  it("puts what others say of themselves below what the named person says", async () => {
    const user = await whereTheySaid(
      ["Greta", "I eat anything except liver."],
      ["Omar", "I can't have gluten."],
      ["Nils", "I eat no meat since January."],
    );
    expect(await firstOf(user, "What can't Omar eat?")).toContain("gluten");
  });

  it.each([
    ["Next door's tortoise, Otto, sleeps in our shed.", "What is my tortoise called?"],
    ["The caretaker is Mr Lund, his parrot Kiki swears.", "What is my parrot's name?"],
    ["My birthday is on 29 May.", "What is Anselm's birthday?"],
  ])("has no confidence in a thing of somebody else: %s", async (text, query) => {
    const user = await whoHas(text, ...OTHERS, "Anselm likes plums.");
    expect(await confidenceOf(user, query)).toBeLessThan(0.4);
  });

  it.each([
    ["My tortoise is called Otto, and next door's tortoise Max.", "What is my tortoise called?"],
    ["Mum's new phone number is 555 0142.", "What is my mother's phone number?"],
    ["Saturday's train leaves at 8:15.", "When does my train leave?"],
    ["Anselm moved: his flat is above the bakery.", "Where is Anselm's flat?"],
  ])("has confidence in a thing of the person in question: %s", async (text, query) => {
    expect(await confidenceOf(await whoHas(text, ...OTHERS), query)).toBeGreaterThan(0.4);
  });

  it.each([
    [
      "My cousin lives in Lund.",
      ["My sister lives in Malmö.", "My sister now lives by the harbour."],
      "Where does my cousin live now?",
    ],
    ["My mum lives in Bergen.", ["My uncle lives in Oslo."], "Where does my mother live?"],
    ["My son is six years old.", ["My aunt is 80 years old."], "How old are my kids?"],
    ["My address is 4 Quarry Lane.", ["Tom has moved: his address is 9 Mill Road."], "What is my address?"],
    [
      "I love Mondays, because the pool is empty.",
      ["The choir rehearses on Mondays."],
      "How do I feel about Mondays?",
    ],
  ])("decides between people: %s", async (own, others, query) => {
    expect(await firstOf(await whoHas(own, ...OTHERS, ...others), query)).toBe(own);
  });
});

describe("a number", () => {
  it.each([
    ["The crane lifts 1,200 kg at most.", "The hoist lifts 120 kg at most.", "What lifts 1,200 kg?"],
    ["The hoist lifts 120 kg at most.", "The crane lifts 1,200 kg at most.", "What lifts 120 kg?"],
  ])("is another one with other digits: %s", async (own, other, query) => {
    expect(await firstOf(await whoHas(own, ...OTHERS, other), query)).toBe(own);
  });
});

describe("an answer of the type that is asked for", () => {
  it("comes before a line that has none", async () => {
    const user = await whoHas(
      "The greenhouse is three metres by two.",
      "The greenhouse came from a retired teacher, second-hand.",
      ...OTHERS,
    );
    expect(await firstOf(user, "How big is the greenhouse?")).toContain("three metres");
  });

  it("is a price where the price of a mend is asked for", async () => {
    const user = await whoHas("The plumber charged 240 euros for the boiler.", ...OTHERS);
    const ofThePrice = await confidenceOf(user, "How much did the plumber charge for the boiler?");
    expect(await confidenceOf(user, "How much did the plumber charge to fix the boiler?")).toBeGreaterThan(
      ofThePrice / 2,
    );
  });

  it.each(["How do I get rid of ERR_SPOOL_EMPTY?", "ERR_SPOOL_EMPTY", "What causes ERR_SPOOL_EMPTY?"])(
    "is the mend of a fault, and not its report: %s",
    async (query) => {
      const report = "The build breaks with ERR_SPOOL_EMPTY.";
      const mend = "ERR_SPOOL_EMPTY came from an empty spool.csv; git lfs pull brings the file back.";
      const user = await whoSaid(report, ...OTHERS, mend, "The nightly build shows ERR_SPOOL_EMPTY too.");
      expect(await firstOf(user, query)).toBe(mend);
    },
  );

  it("is no mend where a code is the name of a thing", async () => {
    const user = await whoHas("Flight KL1234 leaves from gate 7.", ...OTHERS);
    const { confidence, hits } = await ask(user, { query: "From which gate does KL1234 leave?" });
    expect(hits[0]?.text).toContain("gate 7");
    expect(confidence).toBeGreaterThan(0.6);
  });
});

/** Who said these, each in a thread of its own: the answer, and after it a reply of the assistant or a statement. */
const WHO_ELSE: [query: string, answer: string, other: { role: string; content: string }][] = [
  [
    "Which dentist does Mia go to?",
    "Mia sees Dr Oduya for her teeth.",
    {
      role: "assistant",
      content: "I don't know which dentist Mia goes to. Dentists usually keep a list of patients.",
    },
  ],
  [
    "Where is the spare key?",
    "It hangs in the shed, the spare.",
    {
      role: "assistant",
      content: "You haven't told me where the spare key is. Many people keep one with a neighbour.",
    },
  ],
  [
    "What is the name of Tom's wife?",
    "Tom is married to Greta.",
    { role: "user", content: "Tom's boat has the name Petrel." },
  ],
  [
    "Where do I work?",
    "I work at the bakery in Mill Street.",
    {
      role: "user",
      content: "Tom has changed jobs: he works at the bank in Mill Street, it is his second.",
    },
  ],
  ["shoe size", "My shoe size is 43.", { role: "user", content: "My brother's shoe size is 45." }],
];
it.each(WHO_ELSE)("answers %j before what only sounds like an answer", async (query, answer, other) => {
  const user = await whoSaid(...OTHERS, answer);
  const thread = await create(user);
  await append(thread.id, [other], { createdAt: MARCH + 9 * DAY });
  const [first] = (await ask(user, { query })).hits;
  expect(first?.text).toBe(answer);
  expect(first).not.toHaveProperty("replacedAt");
});

it("finds what the assistant recommended before what the user said, if the query asks for that", async () => {
  const user = await whoSaid(...OTHERS, "I would like cork on the bathroom floor.");
  const thread = await create(user);
  const advice =
    "For the bathroom floor, linoleum holds up best against water. Cork swells if it stands in water.";
  await append(thread.id, [{ role: "assistant", content: advice }], { createdAt: MARCH + 9 * DAY });
  expect(await firstOf(user, "What did you recommend for the bathroom floor?")).toBe(advice);
});

it("is not confident of a line without a duration where the query asks how long", async () => {
  const user = await whoSaid(...OTHERS, "The warranty of the boiler is in the blue folder.");
  expect(await confidenceOf(user, "How long is the warranty of the boiler?")).toBeLessThan(0.5);
});

it("finds a fact that was superseded if the question is about before", async () => {
  const user = newUser();
  const fact = { subject: "user", predicate: "works at" };
  await remember(user, { ...fact, object: "Hooli", createdAt: MARCH });
  await remember(user, { ...fact, object: "Initech", createdAt: MARCH + 9 * DAY });
  expect(await firstOf(user, "Where do I work?")).toContain("Initech");
  expect(await firstOf(user, "Where did I work before Initech?")).toContain("Hooli");
  expect(await firstOf(user, "Where did I work before Initech?", { timeMode: "off" })).toContain("Initech");
});

it("counts what one passage of a long answer says, and not a word in each of many", async () => {
  const user = newUser();
  const { id } = await create(user);
  const filler = "Here is a general remark that holds for most gardens and most years, and says little else.";
  const scattered = ["A pear, a pear.", "A tree, a tree.", "To prune, to prune.", "A month, a month."];
  const answer = "Prune pears in February, the best month, as the tree rests.";
  const long = (lines: string[]) =>
    lines.flatMap((line) => [`${line} ${filler}`, filler, filler]).join("\n\n");
  await append(id, [
    say(long([answer, "", "", ""]), "assistant"),
    say("Thanks."),
    say(long(scattered), "assistant"),
  ]);
  const { hits } = await ask(user, { query: "In which month do I prune the pear tree?", kinds: ["message"] });
  expect(hits[0]?.text).toContain("February");
});

describe("a message that goes on from the one before", () => {
  const talk = async (...lines: [content: string, role?: string][]): Promise<string> => {
    const user = await whoSaid(...OTHERS);
    const { id } = await create(user);
    await append(
      id,
      lines.map(([content, role]) => say(content, role)),
      { createdAt: MARCH },
    );
    return user;
  };

  it("answers though it does not name what it is about", async () => {
    const user = await talk(
      ["Gran turned 80 and we gave her a tablet."],
      ["She can't work it, her landline is 01248 555 721."],
    );
    expect(await firstOf(user, "What is Gran's phone number?")).toContain("555 721");
    expect(await confidenceOf(user, "What is Gran's phone number?")).toBeGreaterThan(0.4);
  });

  it("answers behind a reply of the assistant", async () => {
    const user = await talk(
      ["Find a date for the read-through when everybody can come."],
      ["I could compare the calendars.", "assistant"],
      ["7 June works for all nine members."],
    );
    expect(await firstOf(user, "Which date works for the read-through?")).toContain("7 June");
  });

  it.each([
    [
      "How much was the oven?",
      ["The new oven is a Bongard, it was delivered on 12 January.", "It set us back 18,400 euros."],
    ],
    ["How old is Jules?", ["Our apprentice Jules starts on 1 September.", "He is 17 and comes from Annecy."]],
    [
      "How many guests come to the wedding?",
      ["The wedding is on 19 September at 12:30.", "About eighty guests."],
    ],
  ])("comes first if it has the amount, which a day or an hour is not: %s", async (query, lines) => {
    const user = await talk(...lines.map((line): [string] => [line]));
    expect(await firstOf(user, query)).toBe(lines[1]);
    expect(await confidenceOf(user, query)).toBeGreaterThan(0.25);
  });

  it("stays below the one that says the matter itself", async () => {
    const user = await talk(["The read-through is on 7 June."], ["All nine members are happy."]);
    expect(await firstOf(user, "When is the read-through?")).toContain("7 June");
  });
});

describe("the confidence", () => {
  const ANSWER = "The plumber is Mr Oduya, 0131 555 0148.";
  const QUESTION = "What is the phone number of the plumber?";

  it("is no lower where the answer is stored twice, nine, ten, thirty or a hundred times", async () => {
    const once = await confidenceOf(await whoHas(`${ANSWER.slice(0, -1)}, note 1.`, ...OTHERS), QUESTION);
    for (const times of [2, 9, 10, 30, 100]) {
      const alike = Array.from({ length: times }, (_, i) => `${ANSWER.slice(0, -1)}, note ${i + 1}.`);
      // The texts differ by a number, and so do their cosines a little.
      expect(
        await confidenceOf(await whoHas(...alike, ...OTHERS), QUESTION),
        `${times} times`,
      ).toBeGreaterThan(once - 0.02);
    }
  });

  it("is no lower beside more that has nothing to do with it", async () => {
    const few = await confidenceOf(await whoHas(ANSWER, ...OTHERS), QUESTION);
    const many = Array.from({ length: 60 }, (_, i) => `Shelf ${i + 1} holds jars of size ${i + 3}.`);
    expect(await confidenceOf(await whoHas(ANSWER, ...OTHERS, ...many), QUESTION)).toBeGreaterThanOrEqual(
      few - 1e-3,
    );
  });

  it("does not depend on the order of writing, nor on the date", async () => {
    const forth = await ask(await whoHas(ANSWER, ...OTHERS), { query: QUESTION, referenceDate: MARCH });
    const back = newUser();
    await rememberMany(
      back,
      [ANSWER, ...OTHERS].toReversed().map((text) => ({ text, createdAt: MARCH - 900 * DAY })),
    );
    const moved = await ask(back, { query: QUESTION, referenceDate: MARCH - 900 * DAY });
    expect(moved.confidence).toBeCloseTo(forth.confidence, 6);
    expect(moved.hits[0]?.text).toBe(forth.hits[0]?.text);
  });

  it.each([
    ["Who looked after his teeth?", "Dr. Okafor pulled a wisdom tooth."],
    ["Who complains about the drums?", "The family upstairs complains about the drums."],
    ["What does Arne use to edit code?", "Arne edits code with Helix."],
  ])(
    "takes a person by title or kind for an answer to who, and source code for no code: %s",
    async (query, text) => {
      expect(await confidenceOf(await whoHas(text, ...OTHERS), query)).toBeGreaterThan(0.4);
    },
  );

  it("is lower if the line has no answer of the type that is asked for", async () => {
    const user = await whoHas("Arne lives in Malmö and drives a tram.", ...OTHERS);
    expect(await confidenceOf(user, "How old is Arne?")).toBeLessThan(0.3);
    expect(await confidenceOf(user, "Where does Arne live?")).toBeGreaterThan(0.7);
  });

  it("is not lent by an echo", async () => {
    const user = await whoSaid(...OTHERS, "When does the number 9 bus leave from Elm Corner?");
    const { abstained } = await ask(user, {
      query: "When does the number 9 bus leave from Elm Corner?",
      answerable: "strict",
    });
    expect(abstained).toBe(true);
  });

  it("has a higher threshold with `strict`, and small talk never reaches one", async () => {
    const user = await whoHas("The cottage in Aberdovey has three bedrooms.", ...OTHERS);
    const answer = (query: string, answerable: string) => ask(user, { query, answerable, explain: true });
    const [auto, strict] = [
      await answer("three bedrooms", "auto"),
      await answer("three bedrooms", "strict"),
    ] as {
      threshold?: number;
    }[];
    expect(strict?.threshold).toBeGreaterThan(auto?.threshold ?? 1);
    const talk = await answer("haha nice one", "auto");
    expect(talk).toMatchObject({ hits: [], abstained: true });
    expect(talk).not.toHaveProperty("recallId");
    expect((await answer("How many bedrooms has the cottage?", "strict")).hits).not.toEqual([]);
  });
});

it("takes what a memory says of the user for the user's own words", async () => {
  const user = await whoHas("The user's sister lives in Graz.", ...OTHERS, "The user lives in Vienna.");
  expect(await firstOf(user, "Where do I live?")).toBe("The user lives in Vienna.");
  expect(await firstOf(user, "Where does my sister live?")).toBe("The user's sister lives in Graz.");
});

it("spells a neighbour either way", async () => {
  const user = await whoHas(
    "My neighbour's dog is called Rex.",
    ...OTHERS,
    "My colleague's dog is called Otto.",
  );
  expect(await firstOf(user, "What is my neighbor's dog called?")).toContain("Rex");
});

it("takes the forms of an irregular verb for one word", async () => {
  const user = await whoHas(
    "I lent Omar the long ladder.",
    "Omar gets a loan for his car.",
    "Omar borrows many books.",
    ...OTHERS,
  );
  expect(await firstOf(user, "What did I lend to Omar?")).toBe("I lent Omar the long ladder.");
});

it.each([
  ["07700 900123", "07700900123"],
  ["07700900123", "07700 900-123"],
  ["+49 (30) 5550 170", "+49305550170"],
])("finds the number %s by %s", async (stored, asked) => {
  const user = await whoHas(
    "Bela's phone number is 07700 900124.",
    `Ines can be reached at ${stored}.`,
    "Omar's phone number is +49 30 8874 219.",
    ...OTHERS,
  );
  expect(await firstOf(user, `Whose number is ${asked}?`)).toBe(`Ines can be reached at ${stored}.`);
});

describe("a fact of which one version is true at a time", () => {
  const keyed = (user: string, text: string, key: string) => remember(user, { text, key });

  it("ranks above a message on the same matter, which has more of the question's words", async () => {
    const user = await whoSaid("Our veg box comes on Thursdays and there's always a swede in it.", ...OTHERS);
    await keyed(user, "The box comes on Tuesdays: the veg is fresher.", "box");
    expect(await firstOf(user, "When does our veg box come?")).toContain("Tuesdays");
  });

  it("stays below an answer with which it shares a name alone", async () => {
    const user = await whoSaid("Maeve has a flat in Bristol, and lives there with a cat.", ...OTHERS);
    await keyed(user, "Maeve is coeliac.", "diet of maeve");
    expect(await firstOf(user, "Where does Maeve live?")).toMatch(/^Maeve has a flat/);
  });

  it("is about the user by its words, and not by its subject", async () => {
    const user = await whoHas(
      "The user cooks for three.",
      "The user likes only cooked leaves of coriander.",
      ...OTHERS,
    );
    expect(await firstOf(user, "How many people do I cook for?")).toBe("The user cooks for three.");
  });
});
