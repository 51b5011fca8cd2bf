/**
 * Predicates that the rules know, and the words that state them. `me`: what stands directly before the object if the user speaks;
 * `they`: what stands between another subject and the object. "X" in a pattern is the object; without it, the object follows.
 */
export type Known = {
  names: RegExp;
  me: readonly RegExp[];
  they: readonly RegExp[];
  /** Patterns of scripts without spaces, with the object as "X". */
  unspaced: readonly string[];
  /** The question by which an assistant asks for it. */
  asks: RegExp | null;
  /** True if the object is a name: it has a capital letter in the message. */
  isName: boolean;
  /** True if the object may stand in a list: "nuts, kiwi and soy". */
  isList: boolean | "and";
  /** True if no other noun may follow the object. */
  isClosed: boolean;
  /** Patterns that count only if the object is of a kind: "we have" for "three cats". */
  typed: readonly RegExp[];
  kind: RegExp | null;
  /** Words that may stand between the pattern and the object: "love green tea". */
  between: number;
};

const ADVERB = `(?:(?:just|recently|currently|now|also|still|actually|always|mostly|originally|really|happily|usually|already|very|both|here|there|severely|highly|quite|absolutely|mainly|primarily|only|a bit|a|big|huge|great) ){0,2}`;
const WORDS: Readonly<Record<string, string>> = {
  "{I}": `(?:i|we) ${ADVERB}`,
  "{AM}": `(?:i|we) (?:am|are) ${ADVERB}`,
  "{HAVE}": `(?:i|we) (?:have |own |'ve )(?:got )?`,
  "{BEEN}": `(?:i|we) (?:have been|am|are) ${ADVERB}`,
  "{DID}": `(?:i|we) (?:have )?${ADVERB}`,
  "{?}": `(?:\\S+ )?`,
};
/** Articles and such before the object. */
const DETERMINERS = `(?:(?:the|a|an|my|our|own|some|der|die|das|den|dem|ein|eine|einen|le|la|les|l|el|los|las|un|une|una|il|lo|gli|i|het|de|een|o|os|as|um|uma|city of|town of|date) ){0,2}`;
/** Names after the words for a person: "my sister Anna lives in". */
const APPOSITION = `(?:, )?(?:\\S+ (?:, )?)?`;

const written = (pattern: string): string =>
  Object.entries(WORDS).reduce((text, [mark, words]) => text.replaceAll(mark, words), pattern);
const compiled = (patterns: string): RegExp[] =>
  patterns
    .trim()
    .split(/\s*\n\s*/u)
    .filter((line) => line !== "")
    .map((line) => {
      const [before = "", after] = written(line).split("X");
      const start = before.startsWith("^") ? "" : " ";
      const end = before.trimEnd();
      // "{AM}" and the like end with a space already.
      const gap = / \)(?:\?|\{\d,\d\})$/u.test(end) ? "" : " ";
      return new RegExp(`${start}${end}${gap}${DETERMINERS}X${after ?? ""}`, "u");
    });

type Written = Partial<Omit<Known, "names" | "me" | "they" | "typed" | "unspaced">> & {
  me: string;
  they?: string;
  typed?: string;
  unspaced?: string;
};
const known = (names: string, { me, they = "", typed = "", unspaced = "", ...rest }: Written): Known => ({
  names: new RegExp(`^(?:${names})$`, "u"),
  me: compiled(me),
  they: compiled(they).map(({ source }) => new RegExp(`^ ${APPOSITION}${source.trimStart()}`, "u")),
  typed: compiled(typed),
  unspaced: unspaced.split(/\s+/u).filter((pattern) => pattern !== ""),
  kind: null,
  asks: null,
  isName: false,
  isList: false,
  isClosed: false,
  between: 0,
  ...rest,
});

const LIKE = `like|love|enjoy|adore|prefer`;
const LIKES = `(?:i|we) ${ADVERB}(?:do )?(?:${LIKE})(?: to)?
  {AM}(?:into|fond of|keen on|passionate about|interested in|crazy about)
  (?:i am|we are) (?:a )?(?:big |huge |great )?fans? of
  my (?:\\S+ ){0,2}(?:hobby|hobbies|passion|interests?) (?:is|are|include)
  my favou?rite (?:\\S+ ){1,2}(?:is|are)
  ich (?:mag|liebe|bevorzuge)
  ich {?}(?:esse|trinke|mache|spiele|lese) gerne?
  j'(?:aime|adore)
  je prefere
  nous aimons
  me (?:gusta|gustan|encanta|encantan)
  (?:prefiero|amo|adoro)
  (?:gosto|gostamos) (?:de|do|da|dos|das)
  (?:adoro|amo|prefiro)
  mi piac(?:e|ciono)
  ik hou {?}van
  (?:jag|jeg) (?:gillar|alskar|liker|elsker)
  (?:lubie|kocham)
  я {?}люблю
  мне нравится`;
const DISLIKES = `(?:i|we) ${ADVERB}(?:hate|dislike|detest|loathe|can not stand|can not bear)
  ich hasse
  je deteste
  (?:odio|detesto)
  ik haat
  jag hatar
  я ненавижу`;
const HAVE_ELSEWHERE = `(?:wir haben|ich habe|nous avons|j'ai|tengo|tenemos|tenho|temos|ho|abbiamo|ik heb|wij hebben)`;

/** Facts that name somebody of the user's: "my daughter Lena", "two kids, Mia and Tom", "three cats". */
const has = (names: string, words: string, elsewhere = words): Known =>
  known(`(?:has|have|owns?)(?: an?| the)?(?: \\w+)? (?:${names})(?: is| named| called| name| name is)?`, {
    me: `(?:my|our) (?:\\S+ )?(?:${words})(?:'s name)?(?: ,)?(?: is)?(?: called| named)?
      {DID}(?:have|have got|got|own|adopted) (?:\\S+ ){0,3}(?:${words})(?: ,)?(?: named| called)?`,
    typed: `{HAVE}
      ${HAVE_ELSEWHERE}`,
    kind: new RegExp(` (?:${words}|${elsewhere}) `, "u"),
    isList: true,
    asks: new RegExp(` your (?:\\S+ )?(?:${words})(?:'s)? `, "u"),
  });
const RELATIVES =
  "sons? daughters? wife husband sisters? brothers? mother father mum mom dad dogs? cats? puppy kittens? rabbits? horses? hamsters? birds? parrots? turtles?".split(
    " ",
  );
const CHILDREN = "child|children|kids?|sons?|daughters?|baby|babies";
const ANIMALS =
  "pets?|dogs?|cats?|puppy|puppies|kittens?|rabbits?|horses?|hamsters?|birds?|parrots?|fish|turtles?";

export const KNOWN: readonly Known[] = [
  known(
    "(?:currently |now |also )?(?:lives?|living|is living|resides?|is residing|is based|based|home|home city|current city|city|town|country|location|residence|place of residence|has moved|relocated|moved)(?: in| at| to)?(?: is)?",
    {
      me: `{I}(?:live|reside) ${ADVERB}(?:in|at|near|on)
        {I}live in an? (?:\\S+ ){0,2}(?:flat|apartment|house|village|town|suburb|studio|room|city|part) (?:in|near|of)
        {BEEN}(?:living|based|residing) ${ADVERB}(?:in|at|near)
        {DID}(?:moved|relocated) (?:from \\S+ (?:\\S+ )?)?(?:back |over |out )?to
        (?:i|we) have ${ADVERB}lived (?:in|at)
        my (?:home|house|flat|apartment) is in
        ich (?:wohne|lebe) {?}in
        {?}(?:wohne|lebe) ich {?}in
        ich bin (?:\\S+ ){0,3}nach X (?:um)?gezogen
        j'habite {?}(?:a|en|au|aux|dans)
        nous (?:habitons|vivons) {?}(?:a|en|au|aux)
        je vis {?}(?:a|en|au|aux)
        j'ai (?:demenage|emmenage) {?}(?:a|en|au)
        (?:vivo|vivimos|resido) {?}en
        me (?:he mudado|mude) a
        (?:moro|vivo|moramos|vivemos|resido) {?}(?:em|no|na|nos|nas)
        (?:me mudei|mudei me|mudei) (?:para|pra)
        (?:abito|vivo|abitiamo|viviamo|risiedo) {?}(?:a|in|al|alla|nel|nella)
        mi sono trasferit[oa] {?}(?:a|in)
        ik woon {?}in
        wij wonen {?}in
        ik ben {?}naar X verhuisd
        (?:jag|jeg) bor {?}(?:i|pa)
        mieszkam {?}w
        я {?}живу {?}в
        я {?}переехала? в`,
      they: `(?:lives?|resides?|is living|are living|is based|moved|relocated) ${ADVERB}(?:in|at|to|near)`,
      unspaced:
        "(?:私|僕|俺|わたし)[はが].{0,4}Xに(?:住ん|暮らし) 我(?:现在)?(?:住在|生活在|搬到了?)X (?:저는|제가|나는|내가).{0,2}X에(?:서)?(?:살고|살아|삽니다|거주)",
      asks: / (?:where|which city|what city|which town|which country|what country|what place) (?:\S+ ){0,3}you (?:\S+ ){0,2}(?:live|living|based|located|reside|move|moved) | (?:what|which) is your (?:city|town|address|location|country|home city) | wo (?:wohnst|wohnen|lebst) | ou (?:habites|habitez|vivez) | donde vives | onde (?:voce )?mora | dove abiti | waar woon /u,
    },
  ),
  known("(?:is |comes? |originally |is originally |originates )?from|home ?town(?: is)?|origin(?: is)?", {
    me: `{AM}(?:originally )?from
      {I}come from
      {I}grew up in
      my home ?town is
      ich komme aus
      je viens (?:de|du|d)
      (?:soy|vengo) de
      sou (?:de|do|da)
      (?:vengo da|sono di)
      ik kom uit`,
    they: `(?:is|are|comes?) (?:originally )?from`,
    asks: / where (?:are|do) you (?:\S+ )?(?:come )?from | your home ?town /u,
  }),
  known(
    "(?:currently |now )?(?:works?|working|is working|is employed|employed|has a job|has job|job|employer|company|workplace)(?: at| for| in| by)?(?: is)?",
    {
      me: `{I}work ${ADVERB}(?:at|for|in)
        {I}work as (?:\\S+ ){1,4}(?:at|for)
        {BEEN}(?:working|employed) ${ADVERB}(?:at|for|by|in)
        {DID}(?:got|found|started|took|have) (?:a |my )?(?:new )?(?:job|position|role) (?:at|with|in)
        {DID}(?:joined|started at)
        my (?:\\S+ )?(?:employer|company|workplace) is
        ich arbeite {?}(?:bei|beim|in|im|fur|am|an)
        je travaille {?}(?:a|au|chez|pour|dans)
        trabajo {?}(?:en|para)
        trabalho {?}(?:no|na|em|para|pela|pelo)
        lavoro {?}(?:a|in|per|da|presso|al|alla|nel|nella)
        ik werk {?}(?:bij|voor|in)
        jag (?:jobbar|arbetar) {?}(?:pa|hos|for|i)
        pracuje {?}w
        я {?}работаю {?}(?:в|на)`,
      they: `(?:works?|is working|is employed) ${ADVERB}(?:at|for|in|by)`,
      asks: / where (?:\S+ )?you (?:\S+ )?work | (?:who|which company|what company) (?:\S+ )?you (?:\S+ )?work | your (?:employer|company|workplace) | wo arbeite | ou travaill | donde trabajas | onde trabalha | dove lavori /u,
    },
  ),
  known(
    "(?:works?|working|is working|is employed|employed|has a job) as(?: an?)?|job(?: title)?(?: is)?|occupation(?: is)?|profession(?: is)?|role(?: is)?|position(?: is)?|career(?: is)?",
    {
      me: `{I}work ${ADVERB}as
        {BEEN}(?:working|employed) ${ADVERB}as
        {DID}(?:got|found|started|took|have) (?:a |my )?(?:new )?(?:job|position|role) as
        my (?:\\S+ )?(?:job|job title|occupation|profession|role|position) is
        i am (?:a |an )?X (?:by trade|by profession)
        i am (?:a|an|the) X (?:$|, |at |of |in |for |and )
        ich arbeite {?}als
        ich bin X von beruf
        je travaille {?}(?:comme|en tant que)
        trabajo {?}(?:como|de)
        trabalho {?}(?:como|de)
        lavoro {?}(?:come|da)
        faccio
        ik werk {?}als
        jag (?:jobbar|arbetar) {?}som
        pracuje {?}jako`,
      they: `(?:works?|is working|is employed) ${ADVERB}as
        (?:is|are) (?:a|an|the) X (?:$|, |at |of |in |for |and )`,
      asks: / what (?:\S+ )?you (?:\S+ )?do | what (?:\S+ )?you (?:\S+ )?work | (?:what|which) is your (?:\S+ )?(?:job|occupation|profession|role|position|job title) | was (?:arbeitest|machst) du beruflich /u,
    },
  ),
  known(
    "(?:full |first |last |real |preferred )?name(?: is)?|is called|called|is named|named|goes by|nickname(?: is)?",
    {
      me: `my (?:full |first |last |real |middle |own )?name is
      ^ (?:you can |please |just |everybody |everyone |friends |they )?call me X (?:$|, |and )
      {AM}called
      i go by
      ich heisse
      mein name ist
      je m'appelle
      mon (?:nom|prenom) est
      me llamo
      mi nombre es
      (?:me chamo|chamo me)
      meu nome e
      mi chiamo
      il mio nome e
      ik heet
      mijn naam is
      (?:jag|jeg) heter
      (?:mitt namn ar|mitt navn er)
      (?:nazywam sie|mam na imie)
      меня зовут
      (?:adim|ismim)`,
      typed: `^ (?:hi|hello|hey|good morning|good evening|hallo)(?: there| everyone| all)?(?: ,)? i am X (?:$|, |and |from |but |here )`,
      // "Hi, I'm German" states no name.
      kind: /^ (?!(?:german|french|dutch|greek|swiss|american|mexican|korean|catholic|muslim|hindu|vegan|\S+(?:ese|ish|ian|ist)) )/u,
      they: `(?:is|are) (?:called|named)
      (?:called|named)
      's name is
      name is
      is`,
      unspaced: "我(?:叫|的名字(?:叫|是))X (?:私|僕|俺)の名前はX 제이름은X",
      isName: true,
      asks: / your (?:full |first |last |real )?name | (?:should|may|can) i call you | wie heisst du | wie heissen sie | comment t'appelles | comment vous appelez | como te llamas | como (?:voce )?se chama | come ti chiami | hoe heet /u,
    },
  ),
  known("(?:has )?(?:e ?mail|mail)(?: address)?(?: is)?|is reachable at", {
    me: `my (?:work |private |personal |new |main |primary |current )?(?:e ?mail|mail)(?: address)? is
      ^(?:.* )?(?:reach|contact|email|mail|ping|write to|write) me (?:at|on|under|via)
      meine (?:e ?mail|mail)(?: ?adresse)? (?:ist|lautet)
      mon (?:e ?mail|mail|courriel|adresse e ?mail) est
      mon adresse (?:mail|e ?mail) est
      mi (?:correo|e ?mail)(?: electronico)? es
      meu e ?mail e
      la mia (?:e ?mail|mail) e
      mijn e ?mail(?: ?adres)? is`,
    asks: / your (?:\S+ )?(?:e ?mail|mail) /u,
  }),
  known("(?:has )?(?:phone|mobile|cell|telephone)(?: phone)?(?: number)?(?: is)?", {
    me: `my (?:work |private |personal |new |current )?(?:phone|mobile|cell|telephone|cell phone|mobile phone)(?: number)? is
      my number is
      ^(?:.* )?(?:reach|call|text|phone) me (?:at|on|under)
      meine (?:telefonnummer|handynummer|nummer) ist
      mon numero(?: de telephone)? est
      mi (?:numero|telefono) es
      meu (?:numero|telefone) e
      il mio numero e`,
    asks: / your (?:\S+ )?(?:phone|mobile|cell|number|telephone) /u,
  }),
  known(
    "birthday(?: is)?(?: on)?|date of birth(?: is)?|birth ?date(?: is)?|(?:is |was )?born(?: on| in| at)?|birth ?year(?: is)?|year of birth(?: is)?",
    {
      me: `my (?:birthday|birth ?date|date of birth|bday) is(?: on)?
      i was born (?:on|in|at)
      mein geburtstag ist(?: am)?
      ich (?:bin|wurde) (?:am |im |in )?X geboren
      mon anniversaire est
      je suis nee? (?:le|en|a)
      mi cumpleanos es
      naci (?:el|en)
      meu aniversario e(?: em| no dia)?
      nasci (?:em|no|na|a)
      il mio compleanno e
      sono nat[oa] (?:il|a|nel|in)
      mijn verjaardag is(?: op)?
      ik ben geboren (?:op|in)
      я родил(?:ся|ась)(?: в)?`,
      they: `(?:was|were) born (?:on|in|at)
      's birthday is(?: on)?
      birthday is(?: on)?`,
      asks: / your (?:birthday|date of birth) | were you born | when is your birthday /u,
    },
  ),
  known("age(?: is)?|is aged|aged|(?:is )?years old|turned", {
    me: `{AM}X (?:$|years? old|years? of age|yo |, |now |and (?:i|live|work|have) )
      my age is
      {I}turned X (?:$|, |last |this |today |yesterday |in |on )
      ich bin X jahre? alt
      j'ai X ans
      tengo X anos
      tenho X anos
      ho X anni
      ik ben X jaar
      jag ar X ar
      mam X lat
      мне X (?:лет|год|года)`,
    they: `(?:is|'s|are|turned|just turned) X (?:$|years?|, |now )`,
    asks: / how old are you | your age | wie alt bist | quel age | cuantos anos tienes | quantos anos | quanti anni /u,
  }),
  known("(?:is )?married(?: to)?|(?:has )?(?:an? )?(?:wife|husband|spouse)(?: is| name is| named| called)?", {
    me: `{AM}married to
      {DID}(?:got )?married(?: to)?
      my (?:wife|husband|spouse)(?:'s name)?(?: ,)?(?: is)?(?: called| named)?
      ich bin mit X verheiratet
      (?:meine frau|mein mann|meine ehefrau|mein ehemann)(?: ist| heisst)?
      je suis mariee? (?:a|avec)
      (?:ma femme|mon mari)(?: est| s'appelle)?
      (?:estoy|soy) casad[oa] con
      mi (?:esposa|esposo|mujer|marido)(?: es| se llama)?
      sou casad[oa] com
      (?:minha esposa|minha mulher|meu marido)(?: e| se chama)?
      sono sposat[oa] con
      (?:mia moglie|mio marito)(?: e| si chiama)?
      ik ben getrouwd met
      mijn (?:vrouw|man)(?: is| heet)?`,
    they: `(?:is|are) married to`,
    isName: true,
    asks: / your (?:wife|husband|spouse) | you married to /u,
  }),
  ...RELATIVES.map((word) => has(word, word)),
  has("child|children|kids?", CHILDREN, "kinder|enfants|hijos|filhos|figli|kinderen"),
  has("pets?|animals?", ANIMALS, "hund|hunde|katzen?|chiens?|chats?|perros?|gatos?|cani|gatti|honden|katten"),
  has("siblings?", "siblings?|sisters?|brothers?"),
  has("parents?", "parents?|mother|father|mum|mom|dad"),
  known(
    "(?:is |has |has an? |have )?(?:allergic|allergy|allergies|intolerant|intolerance|intolerances)(?: to)?(?: is| are| include)?",
    {
      me: `{AM}(?:allergic|intolerant) to
      {HAVE}(?:\\S+ ){0,3}(?:allergy|allergies|intolerance) to
      {HAVE}(?:an? )?(?:severe |serious |bad |strong |mild )?X (?:allergy|intolerance)
      {AM}X intolerant
      my (?:\\S+ )?allerg(?:y|ies) (?:is|are|include)
      ich bin {?}allergisch (?:gegen|auf)
      ich habe eine {?}allergie gegen
      je suis {?}allergique (?:a|au|aux)
      soy {?}alergic[oa] (?:a|al)
      sou {?}alergic[oa] (?:a|ao|aos|as)
      sono {?}allergic[oa] (?:a|al|alle|ai|agli|alla)
      ik ben {?}allergisch voor
      jag ar {?}allergisk mot
      mam {?}alergie na
      у меня {?}аллергия на`,
      they: `(?:is|are) ${ADVERB}(?:allergic|intolerant) to`,
      isList: true,
      asks: /^ (?:do you have |are there )?any (?:\S+ )?allergies | (?:what|which) (?:\S+ )?(?:are|is) you allergic | your allergies | are you allergic | allergies do you have /u,
    },
  ),
  known("is|am|are|is an?|is the", {
    me: `{AM}
      ich bin
      je suis
      (?:soy|estoy)
      (?:sou|estou)
      sono
      ik ben
      jag ar
      jestem`,
    they: `(?:is|are|'s)`,
    isList: "and",
    isClosed: true,
  }),
  known("has|has an?|has got|has the|suffers from", {
    me: `{HAVE}
      {I}(?:suffer from|got)
      ich habe
      j'ai
      tengo
      tenho
      ik heb
      jag har`,
    they: `(?:has|have|suffers? from)(?: got)?`,
    isList: true,
    isClosed: true,
  }),
  known("owns?|owns an?|possesses", {
    me: `{I}(?:own|possess|have|bought)
      ich (?:besitze|habe)
      je possede
      j'ai
      tengo
      tenho
      ik heb`,
    they: `(?:owns?|has|have|bought)`,
    isClosed: true,
    isList: true,
  }),
  known(
    "(?:really |also )?(?:likes?|loves?|enjoys?|adores?|is (?:an? )?(?:big )?fan of|is fond of|is into|is interested in|interested in|interests?|hobby|hobbies|has hobby|passion)(?: is| are| include)?",
    {
      me: LIKES,
      they: `(?:really |also )?(?:likes?|loves?|enjoys?|adores?|is (?:a )?(?:big )?fan of)(?: to)?`,
      between: 4,
      asks: / (?:you (?:\S+ )?(?:like|love|enjoy)|your (?:\S+ )?(?:hobby|hobbies|interests?|passion)) /u,
    },
  ),
  known("prefers?|preference(?: is)?", {
    me: `{I}(?:would )?prefer
      my preference is
      ich bevorzuge
      je prefere
      prefiero
      prefiro
      preferisco`,
    they: `prefers?`,
    between: 2,
    asks: / you (?:\S+ )?prefer | your preference /u,
  }),
  known(
    "(?:is able to )?speaks?|(?:is )?fluent in|languages?(?: is)?|native language(?: is)?|native speaker of|mother tongue(?: is)?",
    {
      me: `{I}speak
      {AM}fluent in
      my (?:native|first|second) language is
      my mother tongue is
      ich spreche
      meine muttersprache ist
      je parle
      hablo
      falo
      parlo
      ik spreek
      (?:jag pratar|jag talar)
      mowie
      я {?}говорю`,
      they: `speaks?`,
      between: 5,
      asks: / (?:which|what) (?:\S+ )?languages? /u,
    },
  ),
  known("(?:uses?|is using|works with)", {
    me: `{I}(?:use|work with)
      {BEEN}using
      ich (?:benutze|verwende|nutze)
      j'utilise
      uso
      utilizo
      ik gebruik
      я {?}использую`,
    they: `(?:uses?|is using|works with)`,
    isList: true,
    between: 1,
    asks: / you (?:\S+ )?us(?:e|ing) /u,
  }),
  known("stud(?:y|ies)|is studying|is a student of|major(?:s in)?(?: is)?|field of study(?: is)?", {
    me: `{I}study
      {AM}(?:studying|majoring in)
      {AM}(?:student of)
      my major is
      ich studiere
      j'etudie
      estudio
      estudo
      studio
      ik studeer`,
    they: `(?:studies|is studying|majors in)`,
    asks: / you (?:\S+ )?study(?:ing)? | your major /u,
  }),
  known("plans? (?:to )?(?:visit|travel to|trip to|go to|fly to)|will (?:visit|travel to)", {
    me: `{AM}(?:going|flying|travell?ing|heading|driving) to
      {I}(?:plan|want|intend) to (?:visit|go to|travel to|fly to)
      {AM}(?:visiting|planning to visit)
      (?:i|we) will (?:visit|travel to|fly to|go to)`,
    they: `(?:is|are) (?:going|flying|travell?ing) to`,
    isName: true,
    asks: / you (?:\S+ )?(?:going|visit|visiting|travel|travell?ing|flying) /u,
  }),
  known("(?:has )?(?:visited|been to|travell?ed to|went to)", {
    me: `{DID}(?:visited|been to|travell?ed to|went to|flew to)
      (?:he|j'ai) visit(?:ado|e)`,
    they: `(?:has )?(?:visited|been to|travell?ed to|went to)`,
    isList: true,
  }),
  known("height(?: is)?|is tall", {
    me: `{AM}X (?:tall|$)
      my height is`,
    they: `(?:is|'s) X (?:tall|$)`,
    asks: / how tall are you | your height /u,
  }),
  known("has (?:an? )?(?:university )?degree(?: in)?", {
    me: `{HAVE}(?:a )?(?:degree|phd|master|bachelor|master's|bachelor's|doctorate) in`,
    typed: "{DID}(?:have|got|hold|earned)(?: got)?",
    kind: / (?:phd|master|bachelor|degree|mba|msc|bsc|doctorate|diploma|masters|bachelors|master's|bachelor's) /u,
  }),
];

/** Dislikes: words of dislike, or words of liking that are denied. */
export const DISLIKE = known(
  "(?:really |strongly )?(?:dislikes?|hates?|detests?|loathes?|is not a fan of|can not stand|can't stand|cannot stand)",
  {
    me: DISLIKES,
    they: `(?:really )?(?:hates?|dislikes?|detests?|loathes?)`,
    between: 3,
  },
);
