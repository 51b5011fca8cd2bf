import type { FactWords } from "./memory-words.ts";

export const facts: FactWords = {
  articles: "a an the my your his her its our their user's",
  adverbs: "currently now still really very always usually often just already mostly truly",
  be: "is are am 's 'm 're",
  // Not "did": "did not eat" says nothing of the present.
  do: "do does",
  irregular: "is be, are be, am be, has have, goes go, does do",
  denials: "no longer|not|never|(?<! (?:is|are|was|were|gets?|got) )used to",
  more: "any ?more|any longer",
  stops: "(?:has |have )?(?:stops?|stopped|quits?|ceased)|g[ia]ve[sn]? up",
  starts: "(?:has |have )?(?:starts?|started|begins?|began|begun)|t[ao]ken? up|takes up",
  opposites: [
    ["likes, loves, enjoys, adores, fond of, is fond of", "dislikes, hates, loathes, detests"],
    ["eats, drinks, uses, wears", "avoids"],
    ["trusts", "distrusts, mistrusts"],
    ["supports", "opposes"],
    ["agrees with", "disagrees with"],
    ["follows", "unfollows"],
    ["subscribes to", "unsubscribes from"],
    [
      "starts, started, begins, began, has started, takes up, took up",
      "stops, stopped, quits, has stopped, gives up, gave up",
    ],
    ["joins, joined, has joined", "leaves, left, has left"],
  ],
  deniesObject: "not|no longer|never",
  // A possessive tells two things apart: "her manager" is not "his manager".
  beforeObject: "the|an?",
  beforeTime: "on at in to from by for with after before until since around near",
  oneNouns: `name surname nickname username age birthday birthdate birthplace hometown gender sex pronouns religion
    email phone telephone mobile cellphone number address postcode city town country residence location timezone
    employer company workplace job occupation profession title position rank department salary income
    manager boss supervisor ceo cto cfo president chair captain mayor dispatcher advisor adviser gp landlord
    husband wife spouse fiance fiancee girlfriend boyfriend mother father mum mom dad
    height weight size colour color type status zone date place year code password pin
    version broker deadline budget price rent currency`,
  besideNouns: `home current present new permanent main primary private personal work business office company job employment
    mobile cell phone telephone email postal mailing billing shipping delivery street zip post area
    first last middle full maiden legal real given family user login display preferred
    birth marital relationship visa citizenship blood skin hair eye shoe ring shirt dress clothing body time line
    annual monthly hourly net gross base passport insurance tax social security national employee student
    due start end wedding wifi door alarm message`,
  foremost: "favourite favorite preferred primary main default",
  oneVerbs: `lives in, lives at, resides in, resides at, based in, based at, located in, located at,
    works at, works for, works as, employed by, employed at, employed as, reports to, studies at,
    married, married to, engaged to, named, called, goes by,
    born, born in, born on, born at, aged, years old, comes from, from, originally from, grew up in, weighs`,
  present: "has have is are am",
  past: "had was were been",
  lasting: "born called named",
  after: "is are on in at",
  links: "of for to by with from among over as than in at on",
  plurals: "people children women men feet teeth mice geese",
  synonyms: `like love enjoy adore fond fan, live reside home based dwell, work job employed employer, own have has got,
    user user's person, prefer preference, favourite favorite, speak fluent, call name named called, child kid, big large,
    mother mom mum, father dad`,
  ownerWords: "user person really very much currently now also just",
};
