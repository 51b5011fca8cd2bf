/** The words of standing instructions and preferences in one language, as parts of expressions. */
export type StandingWords = {
  /** Before an order: "please", "and", "I want you to". */
  frames: string;
  /** They make an order of a question: "can you". */
  requests: string;
  /** Between a reason and its order: "so", "please". */
  therefore: string;
  /** Before a verb alone, they order: "always", "never". */
  always: string;
  /** Times that do not end, before or behind an order: "from now on". */
  onwards: string;
  /** Verbs that order what an assistant does. */
  orders: string;
  /** Conditions of asking: "when I ask". */
  asked: string;
  /** Whole orders that hold without such a word: "stop using", "keep your answers". */
  plainly: string;
  /** Begins a preference; what follows it, to the end of the clause, is preferred. */
  prefers: string;
  /** The end of a preference: a question or a remark behind it. */
  ends: string;
};

const words = (list: string): string => list.trim().split(/\s+/u).join("|");

const ENGLISH: StandingWords = {
  frames: String.raw`(?:do not|don't)(?! forget)|please|pls|kindly|and|also|but|so|then|ok(?:ay)?|hey|hi|just|one more thing|btw|by the way|note|important|remember(?: to| that)?|(?:do not|don't) forget to|(?:be sure|make sure|try)(?: to| that)?|i(?:'d| would)? (?:want|need|like|prefer) you to|you (?:should|must|have to|need to|are to)`,
  requests: String.raw`(?:can|could|would|will) you`,
  therefore: "(?:(?:so|and|but),? )?please|so",
  always: "always|never|ever|under no circumstances",
  onwards: String.raw`from (?:now|here|today|this (?:point|moment)) on(?:wards?)?(?: out| in)?|going forward|henceforth|in (?:the )?future|for (?:all )?(?:the )?future|in (?:all|each of) (?:your|my|our) \w+|every time|each time`,
  orders: String.raw`give(?! (?:up|in)\b)|be(?! yourself\b)|${words(`abbreviate add address answer apologi[sz]e append ask
    assume avoid base bold call capitali[sz]e check cite clarify comment commit compare compute confirm consider convert
    create define deploy describe display draft emphasi[sz]e end ensure explain express favou?r flag focus follow format
    generate greet have highlight illustrate include insert keep label leave limit link lint list maintain make measure
    mention name number offer omit open order outline phrase point position present print prioriti[sz]e propose prove
    provide push put quote recommend refer reference remind remove repeat reply report respond restrict return round run
    save say schedule send separate set share show sign skip sort speak specify spell start state structure suggest
    summari[sz]e support tag tell test translate treat type use verify warn word wrap write`)}`,
  asked: String.raw`(?:when|whenever|if|each time|every time|any ?time) (?:i(?:'m| am)? (?:ask|asking|write|request|mention|talk|say|send|paste)|you (?:answer|reply|respond|write|draft|explain|suggest|recommend|show|give|list|mention|plan|review|summari[sz]e|translate))`,
  plainly: String.raw`(?:stop|quit) (?:add|answer|apologi[sz]|ask|call|end|explain|format|giv|includ|mention|recommend|remind|repeat|reply|respond|say|send|show|start|suggest|summari[sz]|us|writ)ing|no more (?:emojis?|bullet points?|jokes|apologies|disclaimers)|(?:give|keep|make|write|format|phrase|start|end)(?: me)?(?: all)? (?:your|the) (?:answers|replies|responses|messages|explanations|summaries)|(?:you can )?(?:call|address) me (?:as )?(?=["“…]?\p{Lu})|you no longer (?:have|need) to|you (?:don't|do not) (?:have|need) to .{1,80}\b(?:any ?more|any longer)`,
  prefers: String.raw`(?:i (?:do )?(?:(?:always|usually|generally|really|strongly|definitely) )*prefer|my (?:strong )?preference is)(?= )(?! (?:it|this|that|these|those|one|option|your|the (?:\w+ )?(?:one|ones|option|version|idea))\b)`,
  ends: String.raw`[,;–—]? *(?<!\p{L})(?:(?:so|and|but|however|then),? )?(?:can|could|would|will|do|does|should) (?:you|i|we|this|that|it|there)\b|[,;–—] *(?:(?:so|and|but),? )?(?:how|what|which|where|why|is|are|any)\b|[,;–—] *(?:(?:but|though|and|yet|so|as|since) )?(?:i|i'm|i'd)\b|[,;–—] *(?:you know|like i (?:said|mentioned))\b`,
};

const GERMAN: StandingWords = {
  frames:
    "bitte|und|also|aber|ok(?:ay)?|hey|hallo|ich (?:möchte|will),? dass du|du (?:sollst|musst)|merk dir",
  requests: "kannst du|könntest du|würdest du",
  therefore: "(?:(?:und|aber) )?bitte|also",
  always: "immer|nie(?:mals)?|stets",
  onwards:
    "immer|nie(?:mals)?|stets|grundsätzlich|ab (?:jetzt|sofort|heute)|von (?:jetzt|nun|heute) an|künftig|zukünftig|in zukunft|jedes mal",
  orders:
    words(`antworte benutze? bestätige erkläre erwähne fasse? formuliere frage? gib lass mache? nenne? nimm prüfe?
    rechne sage? schlage? schreibe? setze? sprich übersetze? vermeide verwende verzichte zeige? zitiere`),
  asked: "wenn ich (?:dich )?(?:nach|um|frage|schreibe)",
  plainly: String.raw`hör auf|keine (?:emojis|witze|entschuldigungen) mehr|nenne? mich (?=["„…]?\p{Lu})`,
  prefers: "ich bevorzuge(?= )",
  ends: "[,;–—]? *(?:(?:und|aber|also) )?(?<!\\p{L})(?:kannst|könntest|wie|was|welche\\w*|wo|soll|sollte) ",
};

const FRENCH: StandingWords = {
  frames: "s'il (?:te|vous) plaît|stp|svp|et|mais|alors|bonjour|je (?:veux|voudrais) que tu|tu dois",
  requests: "peux-tu|pourrais-tu",
  therefore: "donc|alors|s'il te plaît",
  always: "toujours|jamais",
  onwards:
    "toujours|jamais|désormais|dorénavant|à partir de (?:maintenant|aujourd'hui)|à l'avenir|chaque fois",
  orders: String.raw`ne|n'\p{L}+|${words(`ajoute appelle cite confirme donne écris évite explique indique mets montre
    parle précise propose rappelle réponds résume tutoie utilise vérifie`)}`,
  asked: "quand je (?:te )?(?:demande|pose)",
  plainly: String.raw`arrête (?:de |d')|plus d'(?:emojis|excuses)|appelle-moi (?=["«…]? ?\p{Lu})`,
  prefers: "je préfère(?= )",
  ends: "[,;–—]? *(?:(?:et|mais|donc|alors) )?(?<!\\p{L})(?:peux|pourrais|comment|quel\\w*|où|est-ce)[ -]",
};

const SPANISH: StandingWords = {
  frames: "por favor|y|pero|entonces|hola|quiero que|debes|tienes que",
  requests: "¿?(?:puedes|podrías)",
  therefore: "así que|por favor",
  always: "siempre|nunca|jamás",
  onwards:
    "siempre|nunca|jamás|(?:a partir|de) (?:de )?(?:ahora|hoy)(?: en adelante)?|en (?:el )?futuro|en adelante|cada vez",
  orders:
    words(`agrega añade avisa cita confirma contesta da dame dime escribe evita explica haz habla incluye indica
    menciona muestra no pon propón recuerda responde resume traduce usa utiliza verifica`),
  asked: "cuando (?:te )?(?:pregunte|pida|pido|pregunto)",
  plainly: String.raw`deja de |no más (?:emojis|disculpas)|llámame (?=["«…]?\p{Lu})`,
  prefers: "prefiero(?= )",
  ends: "[,;–—]? *(?:(?:y|pero|así que|entonces) )?(?<!\\p{L})¿?(?:puedes|podrías|cómo|qué|cuál\\w*|dónde) ",
};

export const STANDING_WORDS: readonly StandingWords[] = [ENGLISH, GERMAN, FRENCH, SPANISH];
