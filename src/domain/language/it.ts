import type { LanguageWords } from "./words.ts";

export const it: LanguageWords = {
  common:
    "il, lo, la, i, gli, le, di, e, che, è, un, una, per, con, non, sono, mi, del, della, nel, da, al, ho, mio, mia",
  self: "io, noi, sono, ho, abito, lavoro, mi, vivo, parlo, preferisco, uso, canto, soffro, siamo, abbiamo, chiamo",
  plural: "noi, siamo, abbiamo",
  whose: "mio, mia, miei, mie, nostro, nostra, nostri, nostre",
  traits:
    "nome, compleanno, età, email, mail, indirizzo, telefono, lavoro, professione, colore preferito, lingua madre, altezza, allergia, allergie, studio",
  you: "tu, ti, te, tuo, tua, tuoi, tue, voi, lei",
  others:
    "lui, lei, loro, suo, sua, suoi, sue, amic*, capo, collega, colleghi, vicino, fratello, sorella, madre, padre, mamma, papà, figli*, moglie, marito, fidanzat*, zio, zia, cugin*, nonn*, suocer*, gente, qualcuno",
  third: "è, ha, vive, abita, lavora, era, aveva, studia",
  theirs: "*a, *e",
  asks: "chi, che, cosa, quando, dove, perché, come, quale, quali, quant*, puoi, potresti, sono io, è vero",
  denies: "non, mai, niente, nulla, nessun*, né, senza, neanche, smesso, ex, odio",
  now: "ora, adesso, più, oggi, ormai, attualmente, anzi",
  past: "abitavo, vivevo, lavoravo, ero, avevo, studiavo, avevamo, eravamo, una volta, un tempo, prima",
  turns: "ma, però, anche se",
  causes: "perché, quindi, allora",
  never: "mai, affatto, per niente, in nessun*",
  relates: "che, dove",
  since: "da quando, fin da",
  excepts: "tranne me, eccetto me, a parte me",
  joins: "e, ed",
  supposes:
    "se, supponiamo, supponi, mettiamo, diciamo, immaginiamo, forse, magari, vorrei, potrei, sarei, avrei, spero, penso di, voglio, ipotizz*, nel caso, sognato, sognavo, sogno",
  reports:
    "dice, diceva, disse, detto, dicono, sostien*, secondo, crede che, afferma, pare, presunt*, corre voce, racconta*, scrive, pensa che, sentito dire, trova che, assicura",
  scenes:
    "immagina, fingi, facciamo finta, gioco di ruolo, copione, romanzo, racconto, una storia, personaggio, tu sei il, tu sei la, sei il, sei la, scenario, inventat*, poesia, canzone, capitolo, monologo, tu fai il, tu fai la",
  ends: "torniamo a me, nella vita reale, fine del gioco, gioco finito, altro argomento, nuovo argomento, cambio argomento",
  hands:
    "traduci, tradurre, traduc*, correggi*, riscrivi*, riassumi*, accorcia*, continua il, continua la, continua questo, continua questa, completa, riformula*, frasi",
  texts:
    "lettera, testo, frase, frasi, mail, messaggi*, articolo, recensione, poesia, discorso, citazione, seguente*, annuncio, cartello, paragrafo, film",
  frames:
    "a proposito, nota, contesto, non dimenticare, info, per la cronaca, correzione, precisazione, dati, dettagli, situazione, riassunto, se serve, se può servire, se conta",
  undoes:
    "scherzo, scherzavo, non davvero, non è vero, bugia, lascia perdere, dimentica, intendevo, ho sbagliato, anzi no, quello era, quella è, il testo sopra, traduci*, suona, no aspetta, aspetta no, che dico, mi sbaglio, mi sono sbagliato, mi sono sbagliata, mi correggo, pesce d'aprile, come non detto",
  points: "quello è, quello era, intendevo",
  orders:
    "memorizza, salva, ricorda che l'*, ignora, sostituisci, dimentica, cancella, d'ora in poi, da ora in poi, devi, aggiungi",
  memory: "la tua memoria, il tuo profilo, istruzioni, l'amministratore, autorizz*, acconsent*",
  roles: "l'utente, dell'utente, all'utente, utente, l'assistente, dell'assistente, all'assistente",
  secrets: "parola d'ordine, parola chiave, carta di credito, numero di conto, codice segreto",
  writing: {
    headers: "da|oggetto",
    inNames: "da|del|di|e|la",
    betweenClauses: "e|ma",
  },
  statements: {
    patterns: [
      { says: String.raw`\b[Aa]bito a <place>`, predicate: "lives in", isDoubtful: true },
      { says: String.raw`\b[Mm]i chiamo <name>`, predicate: "name is" },
    ],
    endsOfValue: "e|ma|da",
  },
  pleasantries:
    "a, ah, allora, altrettanto, amico, anche, ancora, andiamo, arrivederci, aspetta, attimo, auguri, bella, bello, ben, bene, benissimo, benvenuto, bravo, brava, buon, buona, buonanotte, buonasera, buongiorno, buono, capito, certamente, certo, che, chiaro, ciao, come, con, conoscerti, contento, cosa, così, d, da, davvero, del, della, di, dispiace, divertente, domani, dopo, è, e, eccellente, ecco, esatto, fa, fantastico, fatto, favore, fine, figurati, forte, fortuna, genial, giornata, giorno, giusto, grande, grandioso, grazie, ha, hai, ho, i, il, importa, incredibile, infinite, interessante, l, la, le, lo, ma, magari, meglio, mi, mille, molte, molto, momento, nessun, niente, no, non, notte, o, ok, ottimo, peccato, per, perfetto, piacere, più, poco, poi, prego, presto, pronto, problema, proprio, ragione, sabato, salve, saluti, scusa, scusami, scusate, scusi, se, sei, sembra, sera, serata, settimana, sì, sicuro, sogni, d'oro, oro, sono, splendido, sta, stai, sto, subito, super, ti, tranquillo, troppo, tu, tutto, tutti, un, una, va, vediamo, vero, vi, volentieri",
  recall: { empty: `il lo gli i di del della dei e o a al in con per sono mio mia`, persons: "io|mi[oa]" },
};
