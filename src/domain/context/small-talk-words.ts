const wordSet = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** English words of greetings, thanks, assent, judgements and farewells, besides those that a query is searched without. */
export const PLEASANT = wordSet(`
  aah ah aha ahh aww bah blah boo damn dang darn duh eek eh er erm gee goodness hurray jeez lmao lmfao oh ooh ooops ow
  pff rofl shh sigh tada uh uhm um umm woah woohoo yippee

  accept accepted affirmative agree amen aye byebye cheerio confirmed congratulation correct cya deal decline
  definitely disagree farewell gm gn goodnight gtg heya indeed k kk kthx likewise neither noted np nvm okie peace roger
  salutations sup thankyou ya yap yas tks tnx totally true ttyl ty tysm tyvm understood welcome yea yw

  beautiful cute excellent fab fabulous fascinating gorgeous hilarious impressive incredible lovely magnificent
  marvellous marvelous mmm neat negative outstanding phenomenal positive priceless splendid super superb sweet terrific
  unbelievable wicked wonderful
`);
/** Further English words that are no topic of a chat message: they judge, tell a mood, or are about the talk or the weather. */
export const TALK = wordSet(`
  adorable amazed amused amusing astonishing awful awkward bizarre boring charming clever crazy creepy delightful
  disappointed disappointing dull dumb epic frustrating genius glorious gross horrible impressed insane intelligent
  lame legendary lucky mad nasty neat pleasant pleased proud relieved ridiculous rude scary shame shocking smart
  spectacular speechless stunning sucks surprised surprising terrible terrifying thrilled tough tricky ugly unfair
  unfortunate unfortunately unreal useless weird wild worse worst wrong

  asleep awake bored busy distracted done excited exhausted finished sleepy tired

  believe begin confuse continue decide decided doubt enjoy enjoyed exit expect expected explain figure figured
  figuring finish guessed guessing hang heard hold imagine impress joke joked joking kidding knew laugh laughed
  laughing leaving lets like liked listen listening loved loving luck meant miss missed mistake mistaken mistyped pass
  pause pleasure proceed promise promised promising quit realise realised realize realized reason repeat replied
  replying retry said saved saw say saying seen sound sounded speak speaking start started starting stay stop suppose
  surprise suspect tell telling thought thoughts told took truth try typing typo understand understanding wait waiting
  went worked works

  ago aha almost already although apart around away barely bunch certain certainly clear clearly close clue different
  easier either else end enough entire entirely especially eventually ever every everybody everywhere extra extremely
  fast faster finally first forever frankly gladly gone gonna gotta half happened happening hard hardly however
  immediately instead last lately least less likely loads longer mainly matter matters meaning minutes moments mostly
  nearly neither next nobody none normal normally nothing nowhere obvious obviously often ones option others otherwise
  overall point possibly previous quiet rarely rest same seconds several simply slightly slow slowly sometime sometimes
  somewhat somewhere sort sorta straight stuff such sudden suddenly surely though too toward twice unless unlikely
  usual usually various way ways while whole word words wow yet

  bro bruh buddy chap darling dude everyone friends gentlemen ladies ma'am mates sir sis sweetheart

  afk bbl brb cu goin dunno fyi gg hbu idc idk ikr im imho imo jk ppl r smh tbh tho u ur wbu welp wtf xd xoxo y yall

  chilly cloudy freezing outside rainy raining snowing sunny sunshine weather windy

  ain arent ca cannot cant couldn couldnt didn didnt doesn doesnt don dont hadn hadnt hasn hasnt haven havent isn isnt
  ive shouldn shouldnt thats theres theyre wasn wasnt weren werent whats wont wouldn wouldnt youll youre youve
`);
