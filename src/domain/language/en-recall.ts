import type { RecallWords } from "./words.ts";

/** A line that mends a fault, or tells its cause. */
const MEND = String.raw`\b(?:fix(?:ed|es|ing)?|solved?|solves|solution|resolved?|resolves|mend(?:ed|s)?|repaired|caus(?:e[ds]?|ing)|because|came from|comes from|due to|root cause|turned out|workaround|helps?|helped|gone|the (?:trouble|problem|reason|culprit|fault) (?:was|is)|brings? (?:it |\w+ \w+ )?back|works? (?:again|now)|(?:must|has to|have to|should|needs? to) be|restart(?:ed|ing)?|upgrad(?:e[ds]?|ing)|reinstall(?:ed)?|rolled back|revert(?:ed)?|by (?:setting|running|adding|removing))\b`;

const YOU = "(?:you|u|ya)(?: guys| all)?";
/** Words that say nothing in a remark about the assistant. */
const ABOUT_YOU = String.raw`(?: (?!(?:about|at|for|from|in|my|of|on|our|the|to|with|allergic)\b)\p{L}+){1,4}`;
const SO = String.raw`(?: (?:again|all|been|days|do|doing|evening|feeling|friend|going|guys|hanging|here|holding|it|keeping|lately|life|man|mate|morning|now|on|pal|really|so|these|this|today|tonight|treating|up|you|yourself))*`;

/** The words by which a recall reads English. */
export const recall: RecallWords = {
  endings: "n['’]t, ['’](?:m|s|ve|ll|re|d)",
  ownerEnd: "'s",
  empty: `a an and are as at be been being by do does did for from had has have i if in into is it its me my of on or our she so than that the their them then they this to us very was we were who will with you your he her his him not no`,
  stop: `a about after again all also am an and any are as at be because been before being but by can could did do does
    doing for from get go had has have having he her here hers him his how i if in into is it its just like me more
    most my no nor not of off on once only or other our out over own s same she should so some such t tell than that
    the their them then there these they this those through to too under until up us very was we were what when where
    which while who whom whose why will with would you your`,
  courtesy: `apologies apologize appreciate appreciated ask asked asking assist assistance bother cheers curious dear excuse favor
    favour good grateful gratitude greetings hello help helped helpful helping hey hi hiya hope hopefully hoping howdy hurry
    kindly know memory mind obliged pardon patience please pls question questions recall regards remember remembering remind
    rush sincerely sorry thank thankful thanking thanks thx trust wish wishes wonder wondered wondering worries yo`,
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
  times: `afternoon day days evening minute moment morning night sec second today tonight week weekend`,
  exclaims: `aw gosh ha haha hah hehe hm hmm hooray huh lol meh nah omg oof oops ouch phew ugh whoa whoops wow yay yikes`,
  agrees: `agreed alright amazing awesome bad brilliant bye cheers congrats congratulations cool exactly fantastic fun funny good
    goodbye got great happy helped helpful helps interesting later makes mhm nevermind never nice no nope oh ok okay okey
    perfect ready right see sounds sure well yeah yep yes yo yup`,
  beside: `ahead fair friday going job make mind monday point saturday sense sunday thursday tomorrow tuesday wednesday work`,
  pleasant: `aah ah aha ahh aww bah blah boo damn dang darn duh eek eh er erm gee goodness hurray jeez lmao lmfao oh ooh ooops ow pff
    rofl shh sigh tada uh uhm um umm woah woohoo yippee accept accepted affirmative agree amen aye byebye cheerio confirmed
    congratulation correct cya deal decline definitely disagree farewell gm gn goodnight gtg heya indeed k kk kthx likewise
    neither noted np nvm okie peace roger salutations sup thankyou ya yap yas tks tnx totally true ttyl ty tysm tyvm
    understood welcome yea yw beautiful cute excellent fab fabulous fascinating gorgeous hilarious impressive incredible
    lovely magnificent marvellous marvelous mmm neat negative outstanding phenomenal positive priceless splendid super superb
    sweet terrific unbelievable wicked wonderful`,
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
  numerals: `zero one two three four five six seven eight nine
    ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty`,
  irregular: `beat beaten, become became, begin began begun, bend bent, bite bit bitten, blow blew blown,
    break broke broken, bring brought, build built, burn burnt, buy bought, catch caught, choose chose chosen,
    come came, creep crept, deal dealt, dig dug, draw drew drawn, dream dreamt, drink drank drunk,
    drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found,
    fly flew flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven,
    freeze froze frozen, get got gotten, give gave given, go went gone, grow grew grown, hang hung,
    hear heard, hide hid hidden, hold held, keep kept, know knew known, lead led, learn learnt, leave left,
    lend lent, lose lost, make made, mean meant, meet met, pay paid, ride rode ridden, ring rang rung,
    rise rose risen, run ran, say said, see saw seen, seek sought, sell sold, send sent, sew sewn,
    shake shook shaken, shine shone, shoot shot, show shown, shrink shrank, sing sang sung, sink sank,
    sit sat, sleep slept, speak spoke spoken, spend spent, spill spilt, stand stood, steal stole stolen,
    stick stuck, swear swore sworn, sweep swept, swim swam swum, take took taken, teach taught,
    tear tore torn, tell told, think thought, throw threw thrown, understand understood, wake woke woken,
    wear wore worn, win won, write wrote written`,
  asking: "when where which who whom whose why",
  asksWithRequest: "did does had how what",
  afterRequest: "about again d for if ll m me of once please re s that to us ve whether you",
  requesting: "curious hello hey hi kindly me please pls question us wonder wondered wondering you your",
  salutations: String.raw`hi|hiya|hello|hey|dear|good (?:morning|afternoon|evening)`,
  politeEnds: String.raw`please|pls|thanks|thx`,
  questions: String.raw`ask(?:ed|ing)?|questions?|brought up|bring up|mention(?:ed)?|request(?:s|ed)?|wonder(?:ed)?`,
  advice: String.raw`did you (?:\w+ly )?(?:advise|answer|call|explain|find|give|list|mean|mention|name|prefer|propose|recommend|say|suggest|tell|warn|write)|you (?:\w+ly )?(?:advised|answered|explained|gave|listed|mentioned|named|preferred|proposed|recommended|said|suggested|told|warned|wrote)|your (?:advice|answer|explanation|list|proposal|recommendations?|suggestions?)`,
  past: String.raw`used to|former(?:ly)?|previous(?:ly)?|at first|original(?:ly)?|did .{1,30} first|back then|initial(?:ly)?|in the past|last time|(?:did|was|were|had)\b.{0,80}\b(?:before|first|earlier|old|until|once|away from)|(?:before|first|earlier|until)\b.{0,80}\b(?:did|was|were|had)`,
  asksTime: String.raw`(?:(?:and|so|but)\s+)?(?:(?:about|around|at|by|for|from|in|on|since|until)\s+)?(?:when|how long|(?:what|which) (?:date|day|month|year|time))`,
  tellsTime: String.raw`yesterday|today|tonight|tomorrow|last|next|ago|week|weekend|month|years?|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|morning|recently|since`,
  persons: String.raw`i|my|mine|myself|we|us|our|ours|ourselves|he|him|his|she|her|hers|they|them|their`,
  tasks: String.raw`(?:(?:please|can you|could you|now|ok(?:ay)?,?)\s+)*(?:brainstorm|calculate|code|compare|compose|compute|convert|correct|count|create|define|describe|draft|draw|explain|fix|generate|give me|imagine|implement|invent|list|make|paraphrase|pretend|proofread|recommend|rephrase|rewrite|shorten|solve|sort|spell|suggest|summari[sz]e|tell me (?:a|an|something)|translate|write)`,
  yesOrNo: String.raw`is|are|am|was|were|do|does|did|can|could|would|will|should|have|has|had`,
  opens: String.raw`(?:(?:and|so|but|or|ok|okay|also|hey|hi|hello|well|now|then|please|sorry|actually|again|by the way|quick question)[,: ]+)*(?:what(?:'s|s)?|where(?:'s|s)?|when (?:is|are|was|were|do|does|did|can|could|will|would|should|has|have)|who(?:'s|s|m|se)?|which|why|how|(?:is|are|am|was|were|do|does|did|can|could|would|will|should|shall|have|has|had|may|might) (?:i|you|he|she|it|we|they|there|this|that|these|those|the|an?|my|your|our|his|her|their|any\w*|some\w*)|any|remind me|tell me|show me|give me|let me|need|(?:still )?looking|one moment|i(?:'ll| will) (?:check|look)|i (?:was |am |still )?(?:need|looking|wonder|forg[eo]t|want to know|(?:can't|cannot|can never|don't|never) (?:decide|find|know|recall|remember)))`,
  asksAtEnd: String.raw`what|where|when|who|whose|which|why|how|please|pls|anyone|again`,
  asksBehind: String.raw`what|where|when|who|whose|which|why|how`,
  denials: String.raw`\b(?:no|not|never|cannot|unable|nothing|any)\b|\b(?:don|can|couldn|didn|haven|isn|doesn)['’]t\b`,
  knowing: String.raw`know|information|details?|find|found|see|sure|idea|told|tell|mention\w*|record|say|said|have|asked`,
  betweenThem: String.raw`i|you|there`,
  reasons: String.raw`since|because|given that|now that|considering|she's|he's|they're`,
  excuses: String.raw`i'm|i am|i've|i have|we're|we are|we've|we have`,
  states: String.raw`am|is|are|was|were|has|have|had|can't|cannot|needs?|wants?|likes?|lives?|works?`,
  asksNext: String.raw`(?:so |and |but )?(?:what|which|where|who|when|how|why|can|could|should|do|does|is|are)`,
  changes: String.raw`moved?|moves|moving|meant|rais(?:ed|es)|lower(?:ed|s)|increas(?:ed|es)|reduc(?:ed|es)|bought a|instead|now|cancel(?:led|ed|s)?|left|no longer|any ?more|chang(?:ed?|es|ing)|switch(?:ed|es)?|swap(?:ped|s)?|stopped|stops|quit|from (?:today|now|next|tomorrow)|these days|replac(?:ed?|es)|became|become|after all|postponed?|rescheduled|brought forward|pushed|put off|renamed|sold|gave up|given up|updated?|correction|corrected|actually|ended|split up|divorced|retired|resigned|revers(?:ed|es)|turned out|over to|has gone|since then|(?:the|our|my|his|her) new|not .{1,30} but`,
  corrects: String.raw`meant|correction|corrected|sorry|my mistake|scratch that|mixed up|typo`,
  supposes: String.raw`^(?:(?:and|but|so|well|maybe|perhaps),? )?(?:if|unless|suppos(?:e|ing)|imagine|assuming|in case)\b.{3,120}?(?:\bwould|\bcould|\bmight|['’]d)\b|\b(?:would|could|might|['’]d)\b.{3,120}?\b(?:if|unless)\b|\bstill ha(?:s|ve)(?:n['’]t| not)\b|\bha(?:s|ve)(?:n['’]t| not)\b.{1,80}\byet\b|\bnot yet\b|\bstill (?:waiting|open)\b`,
  still: String.raw`still`,
  own: String.raw`i|me|my|mine|the user`,
  reports: String.raw`said|says?|told|tells?|report(?:ed|s)|wrote|suggested|proposed|mentioned|offered|complained`,
  ofNamed: String.raw`^(?!The |It |That |This |There )\p{Lu}\p{L}+(?:['’]s| has| is| was| \p{Ll}+(?:ed|s)) .*\b(?:his|her|their)\b`,
  who: String.raw`(?:and |so |but )?who`,
  speakers: String.raw`I|me|my|we|us|our`,
  theUsers: String.raw`The user['’]s`,
  theUser: String.raw`The user`,
  owners: String.raw`my|our|his|her|their|your|its|\p{L}+['’]s|\p{L}+s['’]`,
  notOwners: String.raw`(?:what|who|where|when|how|it|that|there|here|he|she|let)['’]s`,
  my: "My",
  ownerPronouns: "his her their its",
  ownOfRelative: "my|our|his|her|their",
  relativeEnds: "s|ren",
  ownOwners: "my our",
  sharedOwners: "our",
  relatives: `mother mum mom parent, father dad parent, sister sibling, brother sibling, son kid child, daughter kid child,
    partner wife husband spouse girlfriend boyfriend, gran grandma granny grandmother, grandpa grandad granddad grandfather,
    flatmate roommate, neighbour neighbor, aunt, uncle, cousin, niece, nephew, grandson, granddaughter, friend, boss,
    colleague, landlord, tenant`,
  answers: {
    money: {
      asks: String.raw`\bhow much (?:is|are|was|were|money|did we pay|do (?:i|we) (?:pay|owe))\b|\b(?:what|how much) (?:does|did|do|will) .{1,80} (?:cost|pay|charge|earn)\b|\b(?:price|salary|rent|fees?|deposit|budget)\b`,
      has: String.raw`\b(?:euros?|dollars?|pounds?|pence|cents?|eur|usd|gbp|chf|bucks|kr|crowns?|francs?|yen|free)\b`,
    },
    age: {
      asks: String.raw`\bhow old\b|\bwhat age\b`,
      has: String.raw`\byears? old|\bborn\b|\bturn(?:s|ed|ing)?\b|\baged?\b|\bis (?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b`,
    },
    email: {
      asks: String.raw`\be-?mails?\b(?!\s+(?:app|client|list|program|provider|reader))`,
    },
    phone: {
      asks: String.raw`\b(?:phone|mobile|telephone|cell)\b(?= number| of|\?|$)|\b(?:phone|telephone|mobile) number\b`,
    },
    spouse: {
      asks: String.raw`\bwho is .{0,40}(?:wife|husband|spouse)\b|\bname of .{0,40}(?:wife|husband)\b|\bmarried\b`,
      has: String.raw`\b(?:wife|husband|spouse|marr(?:y|ied)|wedding|widow\w*)\b`,
    },
    birthday: {
      asks: String.raw`\bbirthday\b|\bdate of birth\b`,
      has: String.raw`\bbirthday|\bborn\b|\bturns\b`,
    },
    code: {
      asks: String.raw`\b(?:passwords?|passcode|pin|postcode)\b|(?<!\bto \w+ )\bcode(?:$| (?:of|for|to)\b)|\b(?:serial|reference|policy|account|booking|confirmation|licen[cs]e|docket|passport|card|customer|invoice)\b.{0,12}\bnumber\b|\bnumber plate\b`,
      has: String.raw`\b(?:password|code|pin|passcode) is\b`,
    },
    measure: {
      asks: String.raw`\bhow (?:many|tall|high|heavy|big|far|fast|wide|deep|large|hot|warm)\b|\bhow much .{1,80}\bweigh\b|\b(?:weight|height|capacity|percentage|distance|size)\b`,
      has: String.raw`\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|dozen|half|once|twice|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|no|none)\b|\b(?:small|medium|large|xl|xs)\b`,
    },
    duration: {
      asks: String.raw`\bhow long\b`,
      has: String.raw`\b(?:minutes?|hours?|days?|weeks?|months?|years?|since|until|seconds?)\b`,
    },
    frequency: {
      asks: String.raw`\bhow often\b`,
      has: String.raw`\b(?:every|each|daily|weekly|monthly|yearly|annually|times|once|twice|per|always|never|\w+days)\b`,
    },
    time: {
      asks: String.raw`(?:^|[,.:;!?–—]\s*|\b(?:and|since|until|know|remember) )when (?:is|are|do|does|will|can|shall|must|should)\b|\b(?:what|which|on what|on which|at what) (?:day|date|month|year|time|weekday)\b`,
      has: String.raw`\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|today|tonight|tomorrow|yesterday|noon|midnight|morning|evening|afternoon|night|weekend|week|month|year|spring|summer|autumn|winter|christmas|easter|ago|last|next|since|until|before|after|half past|quarter|(?:at|past|to) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b`,
    },
    colour: {
      asks: String.raw`\bcolou?r\b`,
      has: String.raw`\b(?:red|green|blue|yellow|white|black|gr[ae]y|brown|pink|purple|violet|orange|turquoise|beige|cream|gold|silver|navy|teal|olive|mint|lilac|ochre|ivory|crimson|maroon|anthracite|burgundy|charcoal|terracotta|copper|bronze|indigo|khaki|mustard|peach|rose|rust|sand|scarlet|tan|lime|\w+ish|colou?r\w*)\b`,
    },
    person: {
      asks: String.raw`^(?:and |so |but )?who(?:m|se)?\b`,
      has: String.raw`\b(?:Mr|Mrs|Ms|Dr|Prof|St)\.?\s\p{Lu}|(?<=[\p{L}\p{N},;:'’)–-]\s)(?!I\b)\p{Lu}\p{L}+|^\p{Lu}\p{L}+(?:['’]s\b|:|\s(?:\p{Lu}|\p{Ll}+s\b|is\b|has\b|was\b|will\b|and\b|can\b|said\b))|\b(?:mother|father|mum|mom|dad|sister|brother|aunt|uncle|cousin|friend|neighbou?r|boss|colleague|teacher|doctor|wife|husband|son|daughter|gran\w*|we|I|i|me|my|they|she|he|team|company|family|couple|people|man|woman|guy|girl|boy|lad|lady|belongs to)\b`,
    },
    cause: {
      asks: String.raw`\b(?:causes?|caused|fix(?:ed|es)?|solve[ds]?|solution|resolved?|mend(?:ed)?|workaround|get rid of|reason for)\b|^why (?:did|do|does|is|was|were|are) .{0,80}\b(?:fail\w*|crash\w*|break|broken?|error\w*|slow|down|stuck|flaky|hang\w*|leak\w*)\b`,
      has: MEND,
    },
    fault: {
      asks: String.raw`\b[A-Z]{3,}_[A-Z\d_]{2,}\b|\b[A-Z]{1,6}-?\d{3,}\b|\b[Ee]rror\b|\b[Ee]xception\b|\b\w+(?:Error|Exception)\b`,
      has: MEND,
    },
  },
  ofDay: String.raw`\b\d{1,2}(?:st|nd|rd|th)?\s(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\s\d{1,2}\b|\b\d{1,2}[:.]\d\d\s?(?:am|pm|h)?\b(?!\s?[€$£])|\bbetween \d{1,2} and \d{1,2}\b`,
  units: "am|pm|feet|foot|ft|km|miles?|m|cm|mm|kg|g|years?|minutes?|hours?|days?|weeks?|%|percent",
  notYears: "am|pm|euros?|pounds|dollars",
  sayings: [
    "(?:good|great|nice|lovely|amazing|excellent|fantastic) (?:work|job|one|try|catch|idea|news)",
    "sounds like a (?:plan|deal)",
    "(?:that s|thats|this is) (?:all|it|enough)(?: for (?:now|today|tonight|the day|the week))?",
    "(?:one|a|just a) (?:sec|second|moment|minute)",
    "fair enough",
    "of course",
    "catch (?:you|ya|u) (?:later|soon)",
    "go ahead",
    "^(?:morning|afternoon|evening|night)$",
    "(?:have|has|had|got|need|gotta|must|should|ll|will) (?:to )?(?:run|dash|head off|head out|head home|leave)",
    "(?:sign|signing|log|logging) off",
    "(?:my|your) (?:bad|fault)",
    "no (?:stress|hurry|biggie|big deal|pressure|way|offen[cs]e)",
    "(?:sleep|rest) (?:well|tight|good)",
    "sweet dreams",
    "to (?:meet|see|talk to|chat with|hear from) (?:you|ya|u)",
    "oh my(?: god)?",
    "wrong (?:window|chat|tab|button|person|thread)",
    "(?:happy|merry) (?:new year|birthday|holidays|christmas|easter)",
  ].join("|"),
  greetings:
    "hi+|hello+|hey+|hiya|hallo|hola|howdy|yo|greetings|good (?:morning|afternoon|evening|night)|(?:thanks|thank you|thx|cheers)(?: so much| a lot)?|(?:good ?)?bye(?: bye)?|see you|welcome",
  afterGreeting: "there|again|dear|my",
  noName: "what|who|when|where|why|how|which",
  social: [
    String.raw`(?:h|how)(?: is| are| s| r| re| ve| have| was| were| do| did| has)?(?: it| things?| everything| everyone| life| ${YOU}| your (?:day|night|morning|evening|weekend)| the day)${SO}`,
    String.raw`(?:what(?: s| is)?|whats) (?:up|new|good|happening|cooking|going on|the matter|wrong)${SO}`,
    String.raw`(?:what|how) about you${SO}`,
    String.raw`(?:are|r|were) ${YOU}${ABOUT_YOU}`,
    String.raw`${YOU}(?: are| re| r| seem| sound| look)${ABOUT_YOU}`,
    String.raw`(?:can|could|do|did|will) ${YOU}(?: ever| even| still)? (?:hear|see|understand|dream|sleep|get it|get that|like me|love me|have feelings)(?: me| that| this)?`,
    String.raw`(?:you|u|really|ready|right|sure|seriously|why not|how come|how so|huh|who knows|who cares|who are you|does it|is it|did it|was it|do you|did you|is that so|is that right|am i right|so what|now what|what now|what else|what next)`,
  ].join("|"),
  asksTopic: "how remember remind what when where which who whom whose why",
  whoOrWhen: "how when where which who whom whose why",
  contractions: "won['’]t will not",
};
