import type { LanguageWords } from "./words.ts";

export const nl: LanguageWords = {
  common:
    "de, het, een, en, is, ik, niet, van, in, op, met, voor, dat, mijn, zijn, te, naar, aan, er, ben, heb, we, wat, ook",
  self: "ik, we, wij, mij, me, ben, heb",
  plural: "we, wij",
  whose: "mijn, onze, ons, m'n",
  traits:
    "naam, verjaardag, leeftijd, e-mail*, mail, adres, telefoonnummer, beroep, baan, favoriete, lievelings*, moedertaal, lengte, schoenmaat, allergie",
  you: "je, jij, jou, jouw, u, uw, jullie",
  others:
    "hij, zij, ze, hem, haar, hun, vriend*, baas, collega*, buur*, broer*, zus*, moeder, vader, mama, papa, zoon, dochter*, vrouw, man, oom, tante, oma, opa, mensen, iemand",
  third: "is, heeft, was, woont, had, zegt",
  theirs: "*t",
  asks: "wie, wat, waar, wanneer, waarom, hoe, welke, kun, kan, zou, ben ik, heb ik, is het, is mijn, mag, moet",
  denies: "niet, geen, nooit, niets, noch, zonder, gestopt, vroeger, voormalig*, haat, nauwelijks",
  now: "nu, meer, vandaag, momenteel, tegenwoordig, inmiddels, eigenlijk",
  past: "woonde*, leefde*, werkte*, was, waren, had, hadden, destijds, gewoond, geleefd, gewerkt",
  turns: "maar, hoewel",
  causes: "omdat, want, dus",
  since: "sinds",
  excepts: "behalve ik, behalve mij",
  joins: "en",
  supposes:
    "als, stel, stel dat, veronderstel, misschien, zou, zouden, wil, hoop, wens, indien, wellicht, van plan, overweeg, mocht, droomde, gedroomd, droom",
  reports:
    "zegt, zei, zeggen, beweer*, volgens, gelooft, denkt, zogenaamd, blijkbaar, gerucht*, schrijft, schreef, vertelt, vertelde, gehoord, vindt, vinden, vond",
  scenes:
    "rollenspel, scenario, roman, een verhaal, script, personage, doe alsof, jij bent de, je bent de, jij speelt, fictie*, gedicht, liedje, hoofdstuk, monoloog, toneelstuk",
  ends: "terug naar mij, in het echt, einde spel, genoeg gespeeld, nieuw onderwerp, ander onderwerp, nu over mij",
  hands:
    "vertaal*, vertalen, corrigeer, verbeter, herschrijf, vat samen, samenvat*, verkort, ga verder, maak af, herformuleer, zinnen",
  texts:
    "brief, tekst, zin, zinnen, mail, bericht*, artikel, recensie, gedicht, toespraak, citaat, volgende, advertentie, bord, alinea",
  frames:
    "trouwens, ter info, info, context, let op, vergeet niet, correctie, feiten, details, situatie, kortom, aanvulling, als dat helpt, als dat uitmaakt, mocht dat helpen",
  undoes:
    "grapje, geintje, niet echt, klopt niet, niet waar, gelogen, laat maar, vergeet dat, ik bedoelde, verkeerd*, dat was, dat is, bovenstaande, vertaal*, klinkt dat, of nee, of nou ja, nee wacht, wacht nee, sorry nee, wat zeg ik, vergis me, vergiste me, onzin, 1 april",
  points: "dat is, dat was, ik bedoel, ik bedoelde",
  orders:
    "sla op, onthoud dat de, negeer, vervang, overschrijf, vergeet, wis, vanaf nu, voortaan, je moet, voeg toe",
  memory: "je geheugen, je profiel, instructies, de beheerder, autorisatie, toestemming",
  roles: "de gebruiker, de gebruikers, gebruiker, de assistent",
  secrets: "wachtwoord*, pincode*, rekeningnummer*, creditcard*, kaartnummer",
  forms: ["deniesLast"],
  writing: {
    headers: "van|onderwerp",
    inNames: "de|den|der|ter|van",
    betweenClauses: "en|maar",
  },
  statements: {
    patterns: [
      { says: String.raw`\b[Ii]k woon in <place>`, predicate: "lives in", isDoubtful: true },
      { says: String.raw`\b[Ii]k heet <name>`, predicate: "name is" },
    ],
    endsOfValue: "en|maar|sinds",
  },
  pleasantries:
    "aan, akkoord, allemaal, alles, alsjeblieft, alstublieft, avond, bedankt, begrepen, bent, best, bij, bijna, daag, daar, dag, dan, dank, dankje, dankjewel, dankuwel, dat, de, denk, dit, doeg, doei, duidelijk, dus, echt, een, eens, en, er, erg, even, fijn, fijne, gaat, geen, gefeliciteerd, gek, gelijk, gezellig, goed, goede, goedemiddag, goedemorgen, goedenacht, goedenavond, goedendag, graag, groeten, groetjes, haha, hé, hallo, heel, helemaal, hetzelfde, het, hey, hi, hier, hoe, hoi, hulp, iedereen, ik, is, ja, jammer, je, jij, jou, jullie, klaar, klinkt, klopt, later, lekker, leuk, lief, mee, met, mij, moment, mooi, mooie, morgen, nacht, natuurlijk, nee, niet, niets, nog, nou, oh, oké, ok, om, op, perfect, prachtig, prettige, prima, probleem, slaap, snap, sorry, spijt, straks, super, te, tot, u, uit, van, vandaag, veel, vind, volgende, voor, vriendelijk, wacht, wat, weekend, weer, wel, welkom, welterusten, werkt, zeker, ziens, zie, zien",
  recall: { empty: `de het een en of in op met van voor is ben mijn`, persons: "ik|mijn" },
};
