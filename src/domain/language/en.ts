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
};

/** English words of small talk, parted by spaces. A query is searched without them, or a message of them alone has no topic. */
export const smallTalk = {
  /** Words that are about the conversation: a greeting, a thank you, a request. */
  courtesy: `apologies apologize appreciate appreciated ask asked asking assist assistance bother cheers curious dear excuse favor
    favour good grateful gratitude greetings hello help helped helpful helping hey hi hiya hope hopefully hoping howdy hurry
    kindly know memory mind obliged pardon patience please pls question questions recall regards remember remembering remind
    rush sincerely sorry thank thankful thanking thanks thx trust wish wishes wonder wondered wondering worries yo`,
  /** Words that say nothing by themselves. */
  fillers: `able absolutely actually advance advice always amazing answer answers anyone anything anytime anyway apparently asap
    awesome awfully back basically best better bit blank brain brief briefly brilliant btw care chat check checking come
    comes completely confused cool crossed d definitely disturb earlier easy everyone everything excellent failing fantastic
    feel feels find finds fine fingers folks following forget forgetful forgetting forgot forgotten forward friend funny
    getting give giving glad goes going got great guess guys happen happens happy hear hearing hint honestly info information
    input interrupt interrupting interruption keep kind later legend let lifesaver literally little ll long look looking lot
    lots love lovely m made make makes making many mate may maybe mean message might much must myself need needed new nice
    note now odd ok okay one pal perfect perhaps person pick possible pretty probably problem quick quickly quite random
    rather re real really reply request requests response right rock s search see seem seems seriously shall short side silly
    simple slipped small somebody somehow someone something soon star strange struggling stuck stupid super sure t take talk
    talking there thing things think thinking thought time times together totally trouble truly try trying useful ve wanna
    want wanted welcome well whatever whenever wonderful yeah yes`,
  /** Words that say nothing beside a courtesy ("Good morning", "have a great weekend"), and by themselves name a time. */
  times: `afternoon day days evening minute moment morning night sec second today tonight week weekend`,
  /** Words that express a feeling. A text that begins with one ("oops, wrong window") asks for nothing. */
  exclaims: `aw gosh ha haha hah hehe hm hmm hooray huh lol meh nah omg oof oops ouch phew ugh whoa whoops wow yay yikes`,
  /** Words that agree, cheer or part. */
  agrees: `agreed alright amazing awesome bad brilliant bye cheers congrats congratulations cool exactly fantastic fun funny good
    goodbye got great happy helped helpful helps interesting later makes mhm nevermind never nice no nope oh ok okay okey
    perfect ready right see sounds sure well yeah yep yes yo yup`,
  /** Words that say nothing beside those that agree: "great work", "makes sense", "happy Friday". */
  beside: `ahead fair friday going job make mind monday point saturday sense sunday thursday tomorrow tuesday wednesday work`,
  /** Words of greetings, thanks, assent, judgements and farewells, besides those that a query is searched without. */
  pleasant: `aah ah aha ahh aww bah blah boo damn dang darn duh eek eh er erm gee goodness hurray jeez lmao lmfao oh ooh ooops ow pff
    rofl shh sigh tada uh uhm um umm woah woohoo yippee accept accepted affirmative agree amen aye byebye cheerio confirmed
    congratulation correct cya deal decline definitely disagree farewell gm gn goodnight gtg heya indeed k kk kthx likewise
    neither noted np nvm okie peace roger salutations sup thankyou ya yap yas tks tnx totally true ttyl ty tysm tyvm
    understood welcome yea yw beautiful cute excellent fab fabulous fascinating gorgeous hilarious impressive incredible
    lovely magnificent marvellous marvelous mmm neat negative outstanding phenomenal positive priceless splendid super superb
    sweet terrific unbelievable wicked wonderful`,
  /** Further words that are no topic of a chat message: they judge, tell a mood, or are about the talk or the weather. */
  remarks: `adorable amazed amused amusing astonishing awful awkward bizarre boring charming clever crazy creepy delightful
    disappointed disappointing dull dumb epic frustrating genius glorious gross horrible impressed insane intelligent lame
    legendary lucky mad nasty neat pleasant pleased proud relieved ridiculous rude scary shame shocking smart spectacular
    speechless stunning sucks surprised surprising terrible terrifying thrilled tough tricky ugly unfair unfortunate
    unfortunately unreal useless weird wild worse worst wrong asleep awake bored busy distracted done excited exhausted
    finished sleepy tired believe begin confuse continue decide decided doubt enjoy enjoyed exit expect expected explain
    figure figured figuring finish guessed guessing hang heard hold imagine impress joke joked joking kidding knew laugh
    laughed laughing leaving lets like liked listen listening loved loving luck meant miss missed mistake mistaken mistyped
    pass pause pleasure proceed promise promised promising quit realise realised realize realized reason repeat replied
    replying retry said saved saw say saying seen sound sounded speak speaking start started starting stay stop suppose
    surprise suspect tell telling thought thoughts told took truth try typing typo understand understanding wait waiting went
    worked works ago aha almost already although apart around away barely bunch certain certainly clear clearly close clue
    different easier either else end enough entire entirely especially eventually ever every everybody everywhere extra
    extremely fast faster finally first forever frankly gladly gone gonna gotta half happened happening hard hardly however
    immediately instead last lately least less likely loads longer mainly matter matters meaning minutes moments mostly
    nearly neither next nobody none normal normally nothing nowhere obvious obviously often ones option others otherwise
    overall point possibly previous quiet rarely rest same seconds several simply slightly slow slowly sometime sometimes
    somewhat somewhere sort sorta straight stuff such sudden suddenly surely though too toward twice unless unlikely usual
    usually various way ways while whole word words wow yet bro bruh buddy chap darling dude everyone friends gentlemen
    ladies ma'am mates sir sis sweetheart afk bbl brb cu goin dunno fyi gg hbu idc idk ikr im imho imo jk ppl r smh tbh tho u
    ur wbu welp wtf xd xoxo y yall chilly cloudy freezing outside rainy raining snowing sunny sunshine weather windy ain
    arent ca cannot cant couldn couldnt didn didnt doesn doesnt don dont hadn hadnt hasn hasnt haven havent isn isnt ive
    shouldn shouldnt thats theres theyre wasn wasnt weren werent whats wont wouldn wouldnt youll youre youve`,
} as const;
