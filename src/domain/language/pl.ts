import type { LanguageWords } from "./words.ts";

export const pl: LanguageWords = {
  common:
    "i, w, na, z, się, że, to, jest, nie, do, jak, ale, mam, mój, moja, jestem, po, od, co, tak, dla, ma, mi, ja",
  self: "ja, my, jestem, mam, mieszkam, pracuję, mi, mnie, lubię, jesteśmy, mamy, używam, uczę, zbieram, gram, wolę",
  plural: "my, nas, nam, mamy, jesteśmy",
  whose: "mój, moja, moje, mojej, mojego, nasz, nasza, nasze",
  traits:
    "imię, nazwisko, urodziny, wiek, e-mail, mail, adres, telefon, numer, praca, zawód, ulubion*, język ojczysty, wzrost, alergia, alergie",
  you: "ty, ci, cię, ciebie, twój, twoja, twoje, pan, pani",
  others:
    "on, ona, oni, one, jego, jej, ich, przyjaci*, kolega, koleżanka, szef*, sąsiad*, brat*, siostr*, mama, mamy, mamie, matka, matki, ojciec, tata, syn, syna, synem, córk*, żon*, mąż*, wuj*, ciocia, babci*, dziad*, ludzie, ktoś",
  third: "jest, ma, mieszka, pracuje, lubi, był, była",
  theirs: "*a, *e, *i",
  asks: "kto, co, kiedy, gdzie, dlaczego, jak, jaki, jaka, jakie, który, czy, ile, możesz, mógłbyś",
  denies: "nie, nigdy, nic, żaden, żadnych, żadnej, ani, bez, przestał*, dawniej, były, nienawidzę",
  now: "już, teraz, dziś, dzisiaj, obecnie, więcej, jednak",
  past: "mieszkał*, pracował*, żył*, byłem, byłam, miałem, miałam, uczył*, kiedyś, dawniej, wtedy",
  turns: "ale, lecz, chociaż, a",
  causes: "bo, ponieważ, więc",
  never: "nigdy, wcale, w żadn*",
  relates: "któr*, gdzie",
  since: "odkąd, od kiedy",
  excepts: "oprócz mnie, poza mną",
  joins: "i, oraz",
  supposes:
    "jeśli, jeżeli, gdyby*, załóżmy, przypuśćmy, może, chyba, chciał*, mógł*, chcę, mam nadzieję, planuję, zamierzam, powiedzmy, śniło, śniłem, śniłam",
  reports:
    "mówi*, powiedział*, twierdzi*, według, podobno, rzekomo, uważa*, sądzi*, plotk*, pisze, napisał*, słyszał*, zdaniem, myślą, opowiada*",
  scenes:
    "wyobraź, udawaj*, odgrywa*, scenariusz, powieść, opowiadani*, postać, postaci, jesteś moim, ty jesteś, wcielam, fikcyjn*, wiersz, piosenk*, rozdział, monolog, gra fabularna, ty grasz",
  ends: "wracając do mnie, naprawdę ja, w prawdziwym życiu, koniec gry, koniec zabawy, inny temat, nowy temat",
  hands:
    "przetłumacz*, tłumacz*, popraw, skoryguj, przeredaguj, streść, skróć, kontynuuj, dokończ, podsumuj, zdania",
  texts:
    "list, tekst*, zdani*, mail*, wiadomoś*, artykuł, recenzj*, wiersz, przemówienie, cytat, następując*, ogłoszeni*, napis, akapit",
  frames:
    "przy okazji, info, kontekst, uwaga, nie zapomnij, sprostowanie, fakty, szczegóły, sytuacja, krótko mówiąc, jeśli to ważne, jeśli to pomoże",
  undoes:
    "żart*, żartuję, nie naprawdę, nieprawda, kłamałem, kłamałam, zapomnij, miałem na myśli, pomyłka, nie to okno, to był, to była, powyższ*, przetłumacz*, brzmi, nie o mnie, to nie ja, wkleiłem, wkleiłam, skopiowałem, skopiowałam, nie czekaj, czekaj nie, co ja gadam, co ja mówię, pomyliłem*, pomyliłam*, prima aprilis, cofam, bzdura",
  points: "to jest, to był, to była, mam na myśli",
  orders:
    "zapamiętaj, zapisz, ignoruj, zignoruj, zastąp, nadpisz, zapomnij, usuń, od teraz, odtąd, musisz, dodaj do",
  memory: "twoja pamięć, twojej pamięci, pamięci, instrukcj*, administrator*, upoważni*, zgadza się",
  roles: "użytkownik, użytkownika, użytkownikowi, użytkowniczka, asystent ai",
  secrets: "hasło, hasła, karta kredytowa, numer karty, numer konta, kod pin",
  forms: ["declinesNames"],
  writing: {
    inNames: "i",
  },
  pleasantries:
    "ach, aha, ale, bardzo, będzie, brawo, cześć, chwila, chwilę, co, czego, dzięki, dziękuję, dzień, dobra, dobranoc, dobre, dobrej, dobro, dobry, dobrze, do, dnia, dokładnie, doskonale, fajnie, hej, i, idealnie, ja, jak, jasne, jest, jestem, je, jutra, kluk, mam, masz, mi, miłego, miły, mnie, moc, moment, na, nara, nie, niestety, noc, o, od, ok, okej, oczywiście, pa, pardon, pewnie, pomoc, pomoci, poczekaj, pozdrawiam, prawda, prima, problem, proszę, przepraszam, rano, razie, się, siema, spoko, super, świetnie, szkoda, tak, też, to, trzymaj, ty, v, vidzenia, w, wam, weekend, wieczór, wieczoru, wielkie, witaj, witam, wszystko, wzajemnie, z, za, zobaczenia",
};
