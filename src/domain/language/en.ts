import { facts } from "./en-facts.ts";
import { statements } from "./en-statements.ts";
import { recall } from "./en-recall.ts";
import type { LanguageWords } from "./words.ts";

export const en: LanguageWords = {
  common:
    "the, a, an, is, are, was, am, to, of, in, and, that, it, for, with, have, has, on, at, this, be, as, from, not, do, my, i'm, us",
  self: "i, i'm, im, i've, ive, i'd, i'll, we, we're, we've, me",
  plural: "we, we're, we've",
  whose: "my, our, mine",
  traits:
    "name*, age, birthday*, email*, mail, phone, address, job, favourite, favorite, native, mother tongue, mother language, hobby, diet, allergy, home, hometown, best",
  you: "you, your, you're, yours",
  others:
    "he, she, they, he's, she's, they're, his, her, their, who, everyone, everybody, people, man, woman, friend*, boss, colleague*, neighbor*, neighbour*, sister*, brother*, mother*, mum, mom, father*, dad, grandm*, grandf*, grandad, grandpa, son, daughter*, wife*, husband*, child, children, ex, owner, uncle*, aunt*, cousin*, parents, partner*, girlfriend*, boyfriend*, roommate*, flatmate*, landlord*, doctor*, teacher*, somebody, someone, nobody",
  third: "is, has, was, does, are, were, says, lives, works, likes, loves, plays, owns, wants",
  theirs: "*s",
  did: "*ed",
  asks: "who, what, when, where, why, how, which, whose, am i, do i, do you, did i, did you, does, have i, have you, had i, can i, can you, could you, would you, will i, should i, should the, is it, is my, is there, are my, are there, isn't it, don't i, aren't i, didn't i, since when, right, correct, what's, who's, where's, how's",
  denies:
    "not, no, never, none, neither, nor, nothing, cannot, *n't, cant, dont, doesnt, didnt, isnt, wasnt, no longer, anymore, used to, stopped, quit, gave up, former*, hate*, dislike*, hardly, without, let alone, no more, sold, got rid of, given up, ceased, far from, anything but, instead of, rather than, back when, as a child, as a kid, moved out",
  now: "now, any more, anymore, longer, today, currently, lately, these days, nowadays, actually, oh, well, haha, lol",
  past: "used to, formerly, previously, back then, in those days, i was a, i was an, i was the, i was vegan, i was vegetarian, i was married, we were, i had a, i had an, we had a, we had an, as a teen, as a teenager, as a student, in my teens, in my twenties",
  turns: "but, although, though, whereas",
  causes: "while, because, so",
  never:
    "never, hardly, under no, on no, in no way, at no, by no, no way, not at all, not ever, not since, not until, not till, not before, not after, not during, not when, not often, not much, not yet, not always, not usually, not really, not any, not normally, not regularly, not generally, not currently, no longer, no more, anymore",
  relates: "that, who, which, whose, where",
  since: "since",
  excepts: "but me, except me, except for me, besides me, other than me, apart from me, aside from me",
  adverbs: "once, also, then, first, long, *ly",
  joins: "and, n",
  supposes:
    "if, unless, suppos*, let us say, let's say, say that, assum*, hypothetical*, would, could, should the, might, maybe, perhaps, wish, hope, hoping, want to, i'd, i'll, as if, almost, plan* to, thinking about, thinking of, considering, going to, gonna, will, we'll, one day, had i, dream*, if only, what if, were i, someday, some day, probably, intend*, tempted, whether, wanna, trying to, would love, in theory, in case, for example, for instance, planning, want*, looking to, nearly, so far, undecided, toying, applied, waiting list, talked about",
  reports:
    "goes i, goes my, went i, went my, say, says, said, saying, claim*, thinks, think, told, telling, tells, wrote, reads, according to, alleged*, apparently, supposed*, rumor*, rumour*, i heard, i read that, believe*, insist*, suggest*, calls me, quote, swears, reckon*, convinced, i'm told, i was told, i've been told, word is, call me a, replied, swore, exact words, insisted, motto, slogan, catchphrase, has it that, have it that",
  scenes:
    "imagine, pretend*, role play*, roleplay*, scenario, screenplay, in character, you are the, you're the, act as, written as, persona, script, monologue, fictional, fictitious, fan fiction, made-up, mock interview, a novel, a story, story about, short story, in the story, in this story, in my story, let's play, the song, lyrics, let us pretend, act like, my character, the character, narrator, protagonist, dialogue, rpg, voice of, perspective of, for the sake of argument, you play, a scene, you are my, you're my, you are a, you are an, let us play, let us imagine, let's imagine, let's act, you're a, argument's sake, rehears*, picture this, text adventure, let's practise, let's practice, let us practise, let us practice, you be the, you'll be the, i'll be the",
  ends: "back to me, back to myself, in real life, irl, end of game, end of the game, end of scene, game over, stop the game, enough of the game, out of character, new topic, different topic, speaking for myself",
  hands:
    "translat*, proofread, correct this, correct my, fix the, fix this, rewrite, rephrase, paraphrase, shorten, summarise this, summarize this, continue this, continue the, continue my, continue it, which tense, edit this, reword, polish this, improve this, convert this, simplify this, which is right, how do you say, how do i say, how would you say, format this, is this correct, the following, this post, this mail, this email, this e-mail, this message, this review, this letter, this tweet, this sentence, these sentences, make this, this * post, caption*, respond as, put this, in english, sentences",
  texts:
    "letter, review, tweet, mail*, e-mail*, message*, post, speech, note, page, article, interview, sentence, text, sign, poem, quote, following, word for word, novel, book, story, diary, first person, blog, song, chapter, caption, headline, testimonial",
  frames:
    "for context, context, background, by the way, btw, fyi, note, don't forget, remember, for the record, one thing, info, also, update, ps, about me, for the, reminder, correction, facts, details, no kidding, following up, situation, confession, constraints, summary, the problem, the issue, the reason, heads up, long story short, if that matters, if that helps, if it matters, if it helps, if relevant",
  undoes:
    "kidding, joking, jk, not really, scratch that, i lied, never mind, not true, made that up, made it up, wrong window, i meant, my mistake, the above, is this okay, translat*, that was about, that's about, that was for, that's for, it's for, that's not, that wasn't, does it sound, does that sound, sounds natural, only joking, gotcha, april fool*, nope, just testing, ignore that, forget that, disregard that, that was a lie, wrong chat, wrong tab, not me, asking for a friend, not mine, messing with you, pulling your leg, teasing, oops, this sentence, sentence correct, from my book, that was a joke, that was a test, that was from, that's from, it's from, that was just, wrong thread, meant to say, that was the, talk like, answer like, reply like, no wait, wait no, scrap that, wrong word, what am i saying, forget it, strike that, i misspoke, take that back, take it back, had it wrong, got that wrong, mixed up",
  points: "that is, that's, that was, i meant, i mean, is that, is this, could that, does that, does this",
  orders:
    "ignore, overwrite, override, replace, update, store, save, record, add to, forget, delete, note to, remember that the, from now on, you must, you should, treat, in all later, disregard, memorize, memorise, henceforth, going forward, write into, please remember that the, please store, please save",
  memory:
    "chatbot*, your memory, your memories, your profile, long-term memory, memory update, memory, system prompt, the prompt, instructions, must always, authori*, consent*, permission, the administrator*, want you to, whitelist*",
  roles:
    "the user, the user's, this user, user is, user has, user wants, user trusts, user prefers, user's, the assistant, the assistant's, ai assistant, this assistant",
  secrets:
    "password*, pass word, passphrase*, pass phrase, passcode*, pass code, api key*, api-key*, api_key*, apikey*, secret key, private key, access token, auth token, bearer, seed phrase, recovery phrase, recovery code*, recovery key, mnemonic, pin code, pin number, pin is, pin-code, cvv, cvc, security code, social security, ssn, account number, bank account, routing number, sort code, iban, credit card, debit card, card number, crypto wallet, wallet address, 2fa, one-time code, one time code, otp, backup phrase, wallet phrase, seed words",
  shows: {
    live: "live*, living, move*, based, reside*, home, settled, address",
    name: "name*, call*, i'm, i am",
    email: "mail*, email*, e-mail*, reach, write to",
    age: "old, age*, turn*, years",
    birthday: "birthday, born",
    marri: "marri*, wife, husband, spouse",
    phone: "phone*, number, reach, mobile",
  },
  writing: {
    abbreviations: "Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|No",
    headers: "from|to|cc|subject|date|sent|fwd?",
    chatNames: "user|assistant|human|ai|bot|system|developer|tool|model|memory|facts?|profile",
    roleNames: "user|human|assistant|ai|bot|model|agent|system",
    inNames: "and|of|the",
    betweenClauses: "and|but",
    withSlash: "and/or|he/she",
  },
  facts,
  statements,
  recall,
  standing: {
    values: {
      language: String.raw`(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|turkish|swedish|danish|norwegian|japanese|chinese|korean|arabic|hindi)\b`,
      variety: String.raw`(?:british|american)\b`,
      address: String.raw`(?:call|address)(?:ing)? me\b.*`,
      measures: String.raw`(?:metric|imperial)\b`,
      temperature: String.raw`(?:celsius|fahrenheit)\b`,
      clock: String.raw`(?:12|24|twelve|twenty-four)[- ]hour\b`,
      length: String.raw`(?:short|shorter|brief|concise|terse|long|(?<!no |any )longer|detailed|thorough)\b`,
      manner: String.raw`(?:formal|informal|casual)(?:ly)?\b`,
    },
    noMatter: `actually add adding address again all always amount answer answering answers any anymore call can could
      don ever for forward from future give giving going henceforth i in include including instead just keep
      language like longer make me more must my need never no not now on onward onwards over please pls prefer
      preference provide quit rather reply replies respond responses should show speak stop sure talk than to
      use using want will with write writing you your`,
    conditions: "when|whenever|if|unless|each time|every time|any ?time",
    against: String.raw`never|no longer|no more|not|don['’]?t|stop|quit|avoid`,
    frames: String.raw`(?:do not|don't)(?! forget)|please|pls|kindly|and|also|but|so|then|ok(?:ay)?|hey|hi|just|one more thing|btw|by the way|note|important|remember(?: to| that)?|(?:do not|don't) forget to|(?:be sure|make sure|try)(?: to| that)?|i(?:'d| would)? (?:want|need|like|prefer) you to|you (?:should|must|have to|need to|are to)`,
    requests: String.raw`(?:can|could|would|will) you`,
    therefore: "(?:(?:so|and|but),? )?please|so",
    always: "always|never|ever|under no circumstances",
    onwards: String.raw`from (?:now|here|today|this (?:point|moment)) on(?:wards?)?(?: out| in)?|going forward|henceforth|in (?:the )?future|for (?:all )?(?:the )?future|in (?:all|each of) (?:your|my|our) \w+|every time|each time`,
    orders: String.raw`give(?! (?:up|in)\b)|be(?! yourself\b)`,
    verbs: `abbreviate add address answer apologi[sz]e append ask
      assume avoid base bold call capitali[sz]e check cite clarify comment commit compare compute confirm consider convert
      create define deploy describe display draft emphasi[sz]e end ensure explain express favou?r flag focus follow format
      generate greet have highlight illustrate include insert keep label leave limit link lint list maintain make measure
      mention name number offer omit open order outline phrase point position present print prioriti[sz]e propose prove
      provide push put quote recommend refer reference remind remove repeat reply report respond restrict return round run
      save say schedule send separate set share show sign skip sort speak specify spell start state structure suggest
      summari[sz]e support tag tell test translate treat type use verify warn word wrap write`,
    topics: String.raw`(?:when|whenever|if|each time|every time|any ?time) (?:i(?:'m| am)? (?:ask|asking|write|request|mention|talk|say|send|paste)|you (?:answer|reply|respond|write|draft|explain|suggest|recommend|show|give|list|mention|plan|review|summari[sz]e|translate))`,
    plainly: String.raw`(?:stop|quit) (?:add|answer|apologi[sz]|ask|call|end|explain|format|giv|includ|mention|recommend|remind|repeat|reply|respond|say|send|show|start|suggest|summari[sz]|us|writ)ing|no more (?:emojis?|bullet points?|jokes|apologies|disclaimers)|(?:give|keep|make|write|format|phrase|start|end)(?: me)?(?: all)? (?:your|the) (?:answers|replies|responses|messages|explanations|summaries)|(?:you can )?(?:call|address) me (?:as )?(?=["“…]?\p{Lu})|you no longer (?:have|need) to|you (?:don't|do not) (?:have|need) to .{1,80}\b(?:any ?more|any longer)`,
    prefers: String.raw`(?:i (?:do )?(?:(?:always|usually|generally|really|strongly|definitely) )*prefer|my (?:strong )?preference is)(?= )(?! (?:it|this|that|these|those|one|option|your|the (?:\w+ )?(?:one|ones|option|version|idea))\b)`,
    ends: String.raw`[,;–—]? *(?<!\p{L})(?:(?:so|and|but|however|then),? )?(?:can|could|would|will|do|does|should) (?:you|i|we|this|that|it|there)\b|[,;–—] *(?:(?:so|and|but),? )?(?:how|what|which|where|why|is|are|any)\b|[,;–—] *(?:(?:but|though|and|yet|so|as|since) )?(?:i|i'm|i'd)\b|[,;–—] *(?:you know|like i (?:said|mentioned))\b`,
  },
};
