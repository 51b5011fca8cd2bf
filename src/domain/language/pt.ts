import type { LanguageWords } from "./words.ts";

export const pt: LanguageWords = {
  common:
    "o, a, os, as, de, que, e, em, um, uma, é, não, para, com, do, da, no, na, eu, meu, minha, por, se, mais, então",
  self: "eu, nós, sou, estou, tenho, moro, trabalho, me, gosto, falo, prefiro, uso, temos, somos, preciso, chamo",
  plural: "nós, temos, somos",
  whose: "meu, minha, meus, minhas, nosso, nossa",
  traits:
    "nome, aniversário, idade, e-mail, email, endereço, telefone, trabalho, profissão, cor favorita, língua materna, altura, alergia*",
  you: "você, te, ti, tu, teu, tua, seu, sua",
  others:
    "ele, ela, eles, elas, dele, dela, seu, sua, amig*, chefe, colega*, vizinh*, irmão, irmã, mãe, pai, filh*, mulher, marido, esposa, namorad*, tio, tia, primo, prima, avó, avô, gente, alguém",
  third: "é, está, tem, mora, vive, trabalha, era, foi, estuda",
  theirs: "*a, *e, *ou",
  asks: "quem, o que, quando, onde, por que, como, qual*, quant*, pode, poderia, será, sou eu, há",
  denies: "não, nunca, jamais, nada, nenhum*, nem, sem, tampouco, já não, deixei, antigo, odeio",
  now: "já, agora, mais, hoje, atualmente, na verdade",
  past: "morava, morei, vivia, trabalhava, trabalhei, era, tinha, estudava, morávamos, tínhamos, antes, antigamente",
  turns: "mas, embora",
  causes: "porque, então",
  never: "nunca, jamais, de jeito nenhum, de modo nenhum, em nenhum*",
  relates: "que, onde",
  since: "desde",
  excepts: "menos eu, exceto eu, salvo eu",
  joins: "e",
  supposes:
    "se, suponha*, digamos, vamos supor, imagine*, talvez, gostaria, queria, poderia, seria, teria, tomara, espero, quero, pretendo, penso em, sonhei, sonhava, sonhado",
  reports:
    "diz, disse*, dizia*, dizem, segundo, acha que, afirma, alega, supostamente, boato*, parece que, contou, escreveu, pensa que, ouvi, acha, acham, jura, falou",
  scenes:
    "imagina, finja, vamos fingir, roteiro, romance, um conto, uma história, personagem, você é o, você é a, tu és, cenário, fictíci*, poema, letra de, capítulo, monólogo, faz de conta, jogo de, você faz o",
  ends: "voltando a mim, na vida real, fim do jogo, acabou o jogo, outro assunto, novo assunto, mudando de assunto",
  hands:
    "traduz*, corrija, corrige, reescrev*, resum*, encurt*, continue o, continue este, continue esta, continue esse, continue essa, complete, revis*, reformul*, frases",
  texts:
    "carta, texto, frase*, e-mail, mensage*, artigo, resenha, poema, discurso, citação, seguinte*, anúncio, cartaz, parágrafo, falas",
  frames:
    "aliás, nota, contexto, para constar, não esqueça, info, correção, dados, detalhes, situação, resumo, se ajudar, se importa",
  undoes:
    "brincadeira, brincando, zoeira, não é verdade, na verdade não, mentira, esquece, esqueça, quis dizer, me enganei, isso era, isso é, o texto acima, traduz*, soa, soam, não espera, espera não, que digo, enganei-me, me confundi, deixa pra lá, primeiro de abril",
  points: "isso é, isso era, quis dizer",
  orders:
    "memorize, guarde, lembre, ignore, substitua, esqueça, apague, a partir de agora, de agora em diante, você deve, adicione",
  memory: "sua memória, tua memória, instruções, o administrador, do administrador, autoriz*, consent*",
  roles:
    "o usuário, a usuária, do usuário, ao usuário, o utilizador, do utilizador, o assistente, do assistente, ao assistente",
  secrets: "senha*, palavra-passe, cartão de crédito, número da conta, código de segurança",
  writing: {
    headers: "de|para|assunto",
    inNames: "da|das|de|do|dos|e",
    betweenClauses: "e|mas",
  },
  statements: {
    patterns: [{ says: String.raw`\b[Mm]oro (?:em|no|na) <place>`, predicate: "lives in", isDoubtful: true }],
    endsOfValue: "e|mas|desde",
    inPlaces: "da|do",
  },
  pleasantries:
    "a, abraço, abraços, adeus, agradecido, agradecida, ainda, ajuda, amanhã, ao, até, beijo, beijos, bem, beleza, boa, boas, bom, bons, brigado, brigada, caramba, certeza, certo, claro, com, como, conhecê, correto, de, demais, desculpa, desculpe, dia, dias, disso, do, e, é, está, estou, exatamente, excelente, favor, feliz, fim, fixe, foi, fofo, grato, grata, haha, hoje, igualmente, imagina, incrível, isso, já, joia, kkk, lo, logo, maravilha, mais, mas, me, mesmo, muita, muito, muitos, nada, não, noite, nossa, o, obg, obrigada, obrigadão, obrigado, oi, olá, opa, ótima, ótimo, para, parabéns, pela, pelo, pena, perfeito, pois, por, porreiro, pouco, prazer, problema, que, rapaz, saudações, se, semana, sem, sim, só, sou, super, tá, também, tarde, tardes, te, tchau, tenha, to, todo, tudo, um, uma, valeu, vamos, ver, verdade, vlw, você",
  recall: {
    empty: `os as um uma do da dos das no na nos nas e ou com por para sou meu minha`,
    persons: "eu|meu|minha",
  },
};
