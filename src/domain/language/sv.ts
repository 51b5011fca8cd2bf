import type { LanguageWords } from "./words.ts";

export const sv: LanguageWords = {
  common:
    "och, att, det, är, jag, en, ett, i, på, som, inte, för, med, av, har, till, den, vi, min, mitt, så, om, kan, bor",
  self: "jag, vi, mig, oss",
  plural: "vi",
  whose: "min, mitt, mina, vår, vårt, våra",
  traits:
    "namn, födelsedag, ålder, e-post, mejl, adress, telefonnummer, jobb, yrke, favorit*, modersmål, längd, skostorlek, allergi*",
  you: "du, dig, din, ditt, dina, ni, er",
  others:
    "han, hon, de, dem, hans, hennes, deras, vän*, kompis*, chef*, kollega*, granne*, bror*, syster*, mamma, pappa, mor, far, son*, dotter*, fru, man, sambo, mormor, morfar, farmor, farfar, folk, någon",
  third: "är, har, var, bor, hade, säger",
  theirs: "*r",
  asks: "vem, vad, när, var, varför, hur, vilken, vilka, kan, har jag, är jag, är det, ska, finns",
  denies: "inte, aldrig, ingen, inget, inga, varken, utan, slutat, före detta, hatar, knappt",
  now: "nu, längre, mer, idag, numera, faktiskt",
  past: "bodde, levde, arbetade, jobbade, var, hade, pluggade, förut, tidigare, på den tiden",
  turns: "men, fast",
  causes: "eftersom, därför, så",
  never: "aldrig, inte alls, knappast, under inga",
  relates: "som, där",
  since: "sedan",
  excepts: "utom jag, utom mig",
  joins: "och",
  supposes:
    "om, anta, antag, säg att, tänk om, kanske, skulle, vill, hoppas, önskar, planerar, funderar, ifall, drömde, drömt, dröm",
  reports:
    "säger, sa, sade, påstår, påstod, enligt, tror, tycker, tydligen, rykte*, skriver, skrev, berättar, hört, anser, menar",
  scenes:
    "låtsas, rollspel, scenario, roman, berättelse, saga, manus, karaktär, du är, du spelar, påhittad*, dikt, sång, kapitel, monolog, pjäs, vi leker",
  ends: "tillbaka till mig, på riktigt, slut på spelet, nytt ämne, annat ämne, nu om mig",
  hands:
    "översätt*, rätta, korrigera, skriv om denna, sammanfatta, förkorta, fortsätt, korrekturläs, omformulera, meningar",
  texts:
    "brev, text*, mening*, mejl, meddelande*, artikel, recension, dikt, tal, citat, följande, annons, skylt, stycke",
  frames:
    "förresten, info, bakgrund, kontext, glöm inte, rättelse, fakta, detaljer, läget, kort sagt, tillägg, om det hjälper, om det spelar roll",
  undoes:
    "skojar, skämt*, bara skoj, inte egentligen, stämmer inte, inte sant, ljög, glöm det, jag menade, fel fönster, det var, det är, ovanstående, översätt*, låter det, nej vänta, vänta nej, vad säger jag, stryk det, jag tog fel, aprilskämt, blandade ihop",
  points: "det är, det var, jag menar, jag menade",
  orders:
    "spara, kom ihåg att användaren, ignorera, ersätt, skriv över, glöm, radera, från och med nu, hädanefter, du måste, lägg till",
  memory: "ditt minne, din profil, instruktion*, administratören, godkänner, tillstånd",
  roles: "användaren, användarens, användare, assistenten, assistentens",
  secrets: "lösenord*, pinkod*, kontonummer, kreditkort*, kortnummer",
  pleasantries:
    "adjö, alla, alle, allt, alt, att, av, bara, beklager, bra, bravo, då, dag, dagen, de, dejlig, dejligt, den, det, dig, du, en, ett, er, fantastisk, fantastiskt, farvel, fin, fina, fine, fint, flott, för, for, forlåt, förlåt, förstår, forstår, fredag, ganska, går, glad, god, goda, goddag, godkväll, godmorgon, godnat, godnatt, godt, gott, grattis, gratulerer, ha, haha, hallo, hälsningar, hei, hej, hejdå, hejsan, hel, helg, hello, helt, hi, hilsen, hjälp, hjälpen, hjælp, hjælpen, hjelp, hjelpen, hur, hvordan, hyggelig, hyggeligt, i, igen, igjen, ikke, imorgon, imorgen, ingen, inget, ja, jag, jaha, japp, javisst, jeg, jo, kan, klart, kul, kveld, kväll, ligemåde, lige, likaså, lycka, må, mange, många, med, meg, mig, morgen, morgon, mycket, natt, nat, nå, nej, nei, nemlig, nice, noe, ok, okej, och, og, om, os, på, perfekt, problem, rätt, rigtig, rigtigt, riktig, riktigt, samma, selv, ses, senere, själv, skal, snart, snälla, så, sorry, stämmer, stemmer, super, synd, ta, tack, tak, takk, til, till, träffas, trevlig, trevligt, tusen, tusind, undskyld, unnskyld, utmärkt, vad, vær, vällkommen, välkommen, väldigt, vi, vores",
};
