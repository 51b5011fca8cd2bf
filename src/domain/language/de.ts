import type { LanguageWords } from "./words.ts";

export const de: LanguageWords = {
  common:
    "und, der, die, das, ist, nicht, ich, ein, eine, mit, zu, auf, für, wir, bei, den, im, von, bitte, seit, mein, meine, nach, es, bin, in, als, arbeite, wohne, lebe",
  self: "ich, wir, mich, mir, bin",
  plural: "wir",
  whose: "mein*, unser*",
  traits:
    "name*, geburtstag*, e-mail*, mail, adresse, telefonnummer, alter, beruf, lieblings*, hobby*, größe, schuhgröße, muttersprache, allergie*, job, zuhause",
  you: "du, dich, dir, dein*, ihr, sie, ihre*, ihnen",
  others:
    "er, sie, ihr, ihm, ihn, sein*, freund*, chef*, kolleg*, nachbar*, bruder, schwester, mutter, vater, mama, papa, sohn, tochter, frau, mann, onkel, tante, oma, opa, leute, man, jemand",
  third: "ist, hat, war, wohnt, hatte, sagt",
  theirs: "*t",
  asks: "wer, wie, was, wann, wo, wohin, warum, welche*, kannst, könntest, bin ich, habe ich, hab ich, soll ich, gibt, stimmt, oder",
  denies: "nicht, kein*, nie, niemals, nichts, weder, ohne, aufgehört, früher, ehemalig*, hasse, kaum",
  now: "jetzt, mehr, heute, inzwischen, mittlerweile, momentan, zurzeit, doch, eigentlich",
  past: "wohnte*, lebte*, arbeitete*, war, waren, hatte, hatten, damals, einst, gelebt, gewohnt, gearbeitet",
  turns: "aber, sondern, obwohl",
  causes: "weil, denn, also, deshalb",
  since: "seit, seitdem",
  excepts: "außer mir, außer mich, bis auf mich",
  joins: "und",
  supposes:
    "wenn, falls, angenommen, nehmen wir an, würde*, hätte*, wäre*, könnte*, vielleicht, möchte, stell dir vor, wünschte, hoffe, plane, überlege, will, eventuell, sollte, geträumt, träumte, traum",
  reports:
    "sagt, sagte, sagen, behauptet*, meint, glaubt, denkt, laut, angeblich, gerücht*, schreibt, schrieb, erzählt*, heißt es, gehört, soll ich, finden, findet",
  scenes:
    "rollenspiel*, szenario, roman*, eine geschichte, kurzgeschichte, drehbuch, figur, tu so, tun wir so, du bist der, du bist die, du spielst, spielen wir, fiktiv*, gedicht*, liedtext, kapitel, monolog, theater*, szene, rolle, du wärst",
  ends: "zurück zu mir, im echten leben, ende des spiels, spiel beendet, genug gespielt, neues thema, anderes thema, nun zu mir",
  hands:
    "übersetz*, korrigier*, formuliere diesen, umformulier*, kürze, fasse zusammen, fass das, schreib das um, verbessere, setze fort, sortiere, lektorier*, schreib weiter, schreib bitte weiter, sätze",
  texts:
    "brief*, text*, satz, sätze, mail, e-mail, nachricht*, artikel, rezension*, gedicht, rede, zitat, folgende*, anzeige, schild, beitrag",
  frames:
    "zur info, info, übrigens, hinweis, kontext, hintergrund, nicht vergessen, für den, für die, nachtrag, fakten, angaben, kurz gesagt, falls das wichtig ist, falls das hilft, wenn das hilft, falls relevant",
  undoes:
    "scherz*, spaß, quatsch, stimmt nicht, doch nicht, nicht wirklich, war gelogen, vergiss das, falsches fenster, ich meinte, korrektur, das war, das ist, der obige, übersetz*, klingt das, nein warte, moment nein, ach nein, was sag ich, was rede ich, streich das, verwechselt, april april, nehme ich zurück, verschrieben",
  points: "das ist, das war, ich meine, ich meinte",
  orders:
    "speicher*, ignorier*, überschreib*, ersetze, merke dir, merk dir, vergiss, ab jetzt, ab sofort, von nun an, du musst, lösche",
  memory:
    "dein gedächtnis, systemprompt, anweisung*, der administrator, des administrators, autorisier*, einwilligung",
  roles:
    "der nutzer, die nutzerin, des nutzers, dem nutzer, den nutzer, der benutzer, die benutzerin, des benutzers, dem benutzer, den benutzer, der assistent, des assistenten, dem assistenten, den assistenten",
  secrets: "passwort*, kennwort*, kontonummer*, kreditkarte*, kartennummer*, geheimzahl, zugangscode",
  forms: ["deniesLast", "capitalizesNouns"],
  writing: {
    abbreviations: String.raw`Hr|Fr|(?:am|vom|zum|bis|den|der) \d{1,2}`,
    headers: "von|an|betreff",
    inNames: "den|der|und|von|zu",
    betweenClauses: "und|aber",
  },
  statements: {
    patterns: [
      { says: String.raw`\b[Ii]ch (?:wohne|lebe) in <place>`, predicate: "lives in", isDoubtful: true },
      { says: String.raw`\b[Ii]ch hei(?:ß|ss)e (?!(?:Sie|Dich|Euch)\b)<name>`, predicate: "name is" },
    ],
    endsOfValue: "und|aber|seit",
    inPlaces: "am|an der",
  },
  pleasantries:
    "abend, alles, also, auch, bald, besten, bin, bis, bitte, bitteschön, cool, da, dank, danke, dankeschön, dann, das, dir, doch, du, echt, einen, entschuldige, entschuldigung, es, euch, freut, für, ganz, gar, geht, gehts, gefreut, genau, gerne, gern, geschehen, gleichfalls, glück, gruß, grüße, gut, gute, guten, guter, gutes, hallo, haha, herzlichen, heute, hi, hilfe, hm, hören, ich, ihnen, ist, ja, kein, keine, klar, klasse, klingt, leid, lieb, liebe, lieben, mir, moin, morgen, na, nacht, nee, nein, nett, nicht, nichts, noch, oh, okay, ok, passt, perfekt, prima, problem, recht, richtig, sache, schade, schlaf, schön, schöne, schönen, schönes, sehr, servus, sorry, später, spaß, stimmt, super, tag, toll, trotzdem, tschau, tschüss, tut, und, verstanden, verstehe, viel, viele, vielen, vom, von, war, warte, weiter, wie, wiedersehen, wirklich, wochenende, wunderbar, zu, zum",
  recall: {
    empty: `der die das den dem des ein eine einen einem einer und oder in im am an auf zu zum zur mit von vom fur ist bin sind habe hat als`,
    persons: String.raw`ich|mein\w*`,
  },
  standing: {
    values: {
      language: String.raw`(?:englisch|deutsch|franzosisch|spanisch|italienisch)\b`,
      address: String.raw`nenne? mich\b.*`,
    },
    noMatter: `antworte bitte immer jetzt mehr mir nie niemals stets kunftig ab`,
    conditions: "wenn",
    against: String.raw`nie|niemals|nicht|kein\w*`,
    frames:
      "bitte|und|also|aber|ok(?:ay)?|hey|hallo|ich (?:möchte|will),? dass du|du (?:sollst|musst)|merk dir",
    requests: "kannst du|könntest du|würdest du",
    therefore: "(?:(?:und|aber) )?bitte|also",
    always: "immer|nie(?:mals)?|stets",
    onwards:
      "immer|nie(?:mals)?|stets|grundsätzlich|ab (?:jetzt|sofort|heute)|von (?:jetzt|nun|heute) an|künftig|zukünftig|in zukunft|jedes mal",
    verbs: `antworte benutze? bestätige erkläre erwähne fasse? formuliere frage? gib lass mache? nenne? nimm prüfe?
      rechne sage? schlage? schreibe? setze? sprich übersetze? vermeide verwende verzichte zeige? zitiere`,
    topics: "wenn ich (?:dich )?(?:nach|um|frage|schreibe)",
    plainly: String.raw`hör auf|keine (?:emojis|witze|entschuldigungen) mehr|nenne? mich (?=["„…]?\p{Lu})`,
    prefers: "ich bevorzuge(?= )",
    ends: "[,;–—]? *(?:(?:und|aber|also) )?(?<!\\p{L})(?:kannst|könntest|wie|was|welche\\w*|wo|soll|sollte) ",
  },
};
