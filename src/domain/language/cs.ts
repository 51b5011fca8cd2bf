import type { LanguageWords } from "./words.ts";

export const cs: LanguageWords = {
  common:
    "a, je, se, na, v, že, to, si, jsem, do, ale, jak, mám, můj, moje, s, z, pro, co, tak, jsme, už, by, mi",
  self: "já, my, jsem, mám, bydlím, pracuji, pracuju, mi, mě, jsme, máme, používám, hraju, učím",
  plural: "my, nás, nám, máme, jsme",
  whose: "můj, moje, má, mého, náš, naše",
  traits:
    "jméno, narozeniny, věk, e-mail, email, adresa, telefon, práce, povolání, oblíben*, mateřština, výška, alergie",
  you: "ty, tě, ti, tvůj, tvoje, vy, vám, váš, vaše",
  others:
    "on, ona, oni, jeho, její, jejich, kamarád*, přítel*, šéf*, koleg*, soused*, bratr*, brácha, sestr*, máma, mámy, matk*, tát*, otec, syn, syna, dcer*, manžel*, strýc, teta, babičk*, děd*, lidé, lidi, někdo",
  third: "má, bydlí, pracuje, žije, byl, byla, studuje",
  theirs: "*uje, *eje",
  asks: "kdo, co, kdy, kde, proč, jak, jaký, jaká, jaké, který, kolik, mohl, můžeš, jsem já, dá se",
  denies:
    "ne, není, nejsem, nemám, nikdy, nic, žádn*, ani, bez, nebydlím, nejím, nepracuji, přestal*, bývalý, nesnáším, nebyl*, nemáme, nepij*, nemůžu, neumím, nechodím, nežij*",
  now: "už, teď, nyní, dnes, víc, vlastně",
  past: "bydlel*, žil*, pracoval*, byl jsem, byla jsem, měl jsem, měla jsem, studoval*, kdysi, předtím, tehdy",
  turns: "ale, i když",
  causes: "protože, takže",
  never: "nikdy, vůbec, žádn*",
  relates: "kter*, kde",
  since: "od té doby",
  excepts: "kromě mě, kromě mne",
  joins: "a, i",
  supposes:
    "kdyby*, jestli, pokud, dejme tomu, řekněme, předpokládejme, možná, snad, chtěl*, mohl*, chci, doufám, plánuju, plánuji, přestěhuju, zdálo se, snil*",
  reports:
    "říká*, říkal*, řekl*, tvrdí, tvrdil*, podle, prý, údajně, myslí si, věří, pověst*, píše, napsal*, slyšel*, myslí, prohlašuje",
  scenes:
    "představ si, předstírej*, hrajeme si, scénář, román, povídk*, příběh, postav*, jsi můj, ty jsi, fiktivn*, báseň, písničk*, kapitol*, monolog, hrajeme si na",
  ends: "zpět ke mně, ve skutečném životě, konec hry, jiné téma, nové téma",
  hands: "přelož*, přeložit, oprav*, přepiš, shrň, zkrať, pokračuj, dokonči, zkontroluj gramatiku, věty",
  texts:
    "dopis, text*, vět*, mail, e-mail, zpráv*, článek, recenz*, báseň, projev, citát, následující*, inzerát, nápis, odstavec",
  frames:
    "mimochodem, info, kontext, pozor, nezapomeň, oprava, fakta, podrobnosti, situace, zkrátka, jestli to pomůže, pokud to hraje roli",
  undoes:
    "vtip, žertuju, dělám si srandu, ne doopravdy, není pravda, lhal*, zapomeň na to, myslel*, spletl*, to byl*, výše uveden*, přelož*, zní to, ne počkej, počkej ne, co to říkám, apríl, beru zpět, nesmysl",
  points: "to je, to byl, to byla, myslel jsem",
  orders: "zapamatuj, ulož, ignoruj, přepiš, nahraď, zapomeň, smaž, od teď, odteď, musíš, přidej do",
  memory: "tvoje paměť, do paměti, instrukc*, administrátor*, oprávn*, souhlas*",
  roles: "uživatel, uživatele, uživateli, uživatelka, asistent ai",
  secrets: "heslo, hesla, kreditní karta, číslo karty, číslo účtu, kód pin",
  forms: ["declinesNames"],
  pleasantries:
    "ahoj, aha, ale, cau, čau, dekuji, děkuji, děkuju, ďakujem, dík, díky, dobre, dobré, dobro, dobrou, dobry, dobrý, dobře, doskonale, hej, hezký, i, ja, já, jak, jasně, je, ješte, ještě, jsem, jsi, klid, krásny, krásný, leitě, líto, mam, mám, máš, mi, milý, mně, moc, moment, na, nashledanou, nara, nie, nic, není, ne, nema, nemáš, noc, o, od, ok, omlouvám, pardon, pomoc, pomoci, pozdravy, přesně, prepáč, prepáčte, prima, problem, problému, problém, prosím, ráno, rozumiem, rozumím, samé, skvělé, skvele, super, tak, také, to, ty, určitě, v, vám, vďaka, večer, víkend, z, za, zatím, zdar, zdravím",
};
