import type { LanguageWords } from "./words.ts";

export const fr: LanguageWords = {
  common:
    "le, la, les, de, des, et, est, je, un, une, à, pour, dans, que, qui, pas, mon, ma, du, en, avec, sur, au, suis, c'est, j'ai, chez",
  self: "je, j'*, j, nous, on, moi, me, m'*, suis, ai",
  plural: "nous, on",
  whose: "mon, ma, mes, notre, nos",
  traits:
    "nom, prénom, anniversaire, âge, adresse, e-mail, mail, numéro, métier, travail, hobby, couleur préférée, langue maternelle, taille, pointure, allergie*",
  you: "tu, te, toi, ton, ta, tes, vous, votre, vos",
  others:
    "il, elle, ils, elles, lui, leur, son, sa, ses, ami*, chef*, collègue*, voisin*, frère*, soeur*, mère, père, maman, papa, fils, fille*, femme, mari, oncle, tante, cousin*, grand-mère, grand-père, gens, quelqu'un",
  third: "est, était, avait, habite, dit",
  theirs: "*e, *t",
  asks: "qui, quoi, quand, pourquoi, comment, quel*, est-ce, suis-je, ai-je, peux, pourrais, peut-on, n'est-ce, y a-t-il",
  denies:
    "plus maintenant, plus du tout, ne, n'*, pas, jamais, rien, aucun*, ni, sans, ancien*, arrêté, déteste",
  now: "maintenant, plus, aujourd'hui, actuellement, désormais, vraiment",
  past: "j'habitais, j'étais, j'avais, vivais, travaillais, étais, avais, habitais, autrefois, auparavant, avions, étions",
  turns: "mais, quoique",
  causes: "parce, car, donc, alors",
  never: "jamais, en aucun, aucunement, guère, pas du tout, pas depuis",
  relates: "qui, que, où",
  since: "depuis",
  excepts: "sauf moi, à part moi, excepté moi",
  joins: "et",
  supposes:
    "si, supposons, suppose, admettons, imaginons, peut-être, voudrais, aimerais, pourrais, serais, aurais, j'aimerais, j'espère, espère, envisage, je compte, mettons, au cas, rêvé, rêvais, rêve",
  reports:
    "dit, disent, dit-on, prétend*, paraît, selon, d'après, croit, pense que, affirme, il paraît, rumeur*, soi-disant, écrit, raconte*, entendu, trouve, trouvent, raconte, disait",
  scenes:
    "imagine, jeu de rôle, scénario, roman, conte, une histoire, personnage, tu es le, tu es la, tu joues, je joue l'*, je joue le rôle, jouons, faisons comme, fictif*, poème, chanson, chapitre, monologue, pièce, et toi le, et toi la, tu seras",
  ends: "revenons à moi, dans la vraie vie, fin du jeu, jeu terminé, on arrête le jeu, autre sujet, nouveau sujet",
  hands:
    "tradui*, corrige*, reformule*, résume*, raccourci*, continue ce*, continue le, continue la, continue l', continue mon, continue ma, complète, réécri*, relis, trie*, mets en, améliore",
  texts:
    "lettre, texte, phrase*, mail, message*, article, avis, poème, discours, citation, suivant*, annonce, paragraphe, panneau",
  frames:
    "pour info, info, au fait, note, contexte, n'oublie pas, pour le, pour la, précision, rectification, faits, détails, situation, résumé, bref, si ça aide, si ça compte, si c'est utile",
  undoes:
    "je plaisante, plaisante, blague, pas vraiment, c'est faux, oublie ça, j'ai menti, je voulais dire, erreur, en fait non, c'était, c'est pour, ci-dessus, tradui*, ça sonne, plaisantais, non attends, attends non, me trompe, n'importe quoi, poisson d'avril, je retire, je confonds, laisse tomber",
  points: "c'est, c'était, je parlais de, je voulais dire",
  orders:
    "mémorise*, enregistre*, ignore*, remplace*, ajoute à, oublie, efface, souviens-toi, retiens, désormais, dorénavant, à partir de maintenant, tu dois, vous devez",
  memory: "ta mémoire, ton profil, prompt système, instructions, l'administrateur, autorise*, consent*",
  roles: "l'utilisateur, l'utilisatrice, utilisateur, utilisatrice, l'assistant",
  secrets:
    "mot de passe, mots de passe, carte bancaire, carte de crédit, code secret, numéro de compte, numéro de carte",
  writing: {
    abbreviations: "Mme",
    headers: "de|à|objet",
    inNames: "d|de|du|et|la|le",
    betweenClauses: "et|mais",
  },
  statements: {
    patterns: [
      { says: String.raw`\b[Jj]['’]habite (?:à|en|au) <place>`, predicate: "lives in", isDoubtful: true },
      { says: String.raw`\b[Jj]e m['’]appelle <name>`, predicate: "name is" },
    ],
    endsOfValue: "et|mais|depuis",
    inPlaces: "de|la|sur",
  },
  pleasantries:
    "à, accord, adieu, aide, ah, aime, alors, allez, après, aussi, au, avec, beaucoup, bien, bientôt, bof, bon, bonjour, bonne, bonsoir, bravo, c, ça, chance, ci, ciao, clair, comme, comment, compris, cool, coucou, d, dac, de, demain, désolé, désolée, dommage, drôle, du, enchanté, enchantée, encore, entendu, est, et, êtes, exact, exactement, excuse, excusez, faire, fait, félicitations, génial, gentil, gentille, grave, haha, hein, hé, hello, heureux, heureuse, hi, ici, il, j, je, journée, l, la, le, lol, m, ma, mais, marrant, matin, mdr, merci, mieux, moi, moins, moment, n, ne, nickel, non, nouveau, nuit, oh, oui, ok, ouais, ouah, pardon, parfait, pas, passe, peu, plaisir, pour, quelle, qu, rencontrer, rencontre, rien, s, salut, sans, soir, soirée, souci, spécial, super, sûr, sympa, t, ta, tant, te, tellement, toi, toujours, tout, toute, très, trop, tu, un, une, vas, va, vais, voilà, vous, vrai, vraiment, week-end, week, end, y",
  recall: {
    empty: `le la les un une des de du d l et ou a au aux en dans avec pour est suis sont je j mon ma mes`,
    persons: "je|mon|ma|mes",
  },
  standing: {
    values: {
      language: String.raw`(?:anglais|allemand|francais|espagnol)\b`,
      address: String.raw`appelle-moi\b.*`,
    },
    noMatter: `désormais jamais reponds toujours`,
    conditions: "quand",
    against: String.raw`jamais|pas`,
    frames: "s'il (?:te|vous) plaît|stp|svp|et|mais|alors|bonjour|je (?:veux|voudrais) que tu|tu dois",
    requests: "peux-tu|pourrais-tu",
    therefore: "donc|alors|s'il te plaît",
    always: "toujours|jamais",
    onwards:
      "toujours|jamais|désormais|dorénavant|à partir de (?:maintenant|aujourd'hui)|à l'avenir|chaque fois",
    orders: String.raw`ne|n'\p{L}+`,
    verbs: `ajoute appelle cite confirme donne écris évite explique indique mets montre
      parle précise propose rappelle réponds résume tutoie utilise vérifie`,
    topics: "quand je (?:te )?(?:demande|pose)",
    plainly: String.raw`arrête (?:de |d')|plus d'(?:emojis|excuses)|appelle-moi (?=["«…]? ?\p{Lu})`,
    prefers: "je préfère(?= )",
    ends: "[,;–—]? *(?:(?:et|mais|donc|alors) )?(?<!\\p{L})(?:peux|pourrais|comment|quel\\w*|où|est-ce)[ -]",
  },
};
