import type { LanguageWords } from "./words.ts";

export const es: LanguageWords = {
  common:
    "el, la, los, las, de, y, que, en, un, una, es, por, para, con, no, mi, me, del, al, lo, se, porque, soy, está, tengo",
  self: "yo, soy, estoy, tengo, vivo, trabajo, nosotros, me, he, hablo, prefiero, como, uso, llevo, somos, tenemos, llamo",
  plural: "nosotros, somos, tenemos",
  whose: "mi, mis, nuestro, nuestra, nuestros, nuestras",
  traits:
    "nombre, cumpleaños, edad, correo, email, dirección, teléfono, trabajo, profesión, color favorito, comida favorita, lengua materna, altura, talla, alergia*",
  you: "tú, tu, te, ti, tus, usted, su, vosotros, ustedes",
  others:
    "ella, ellos, ellas, su, sus, le, amig*, jef*, colega*, compañer*, vecin*, herman*, madre, padre, mamá, papá, hij*, mujer, marido, esposa, esposo, novi*, tío, tía, primo, prima, abuel*, gente, alguien",
  third: "es, está, tiene, vive, trabaja, era, fue, estudia",
  theirs: "*a, *e",
  asks: "quién*, cuándo, dónde, por qué, cómo, cuál*, cuánt*, puedes, podrías, soy yo, es, hay, debo",
  denies: "no, nunca, jamás, nada, ningun*, ni, tampoco, sin, ya no, dejé, antiguo, odio, en mi vida",
  now: "ya, ahora, más, hoy, actualmente, en realidad",
  past: "vivía, viví, trabajaba, trabajé, era, tenía, estudiaba, vivíamos, teníamos, antes, antaño, solía",
  turns: "pero, sino, aunque",
  causes: "porque, así que, entonces",
  never: "nunca, jamás, en absoluto, de ninguna, bajo ninguna, apenas",
  relates: "que, quien, donde",
  since: "desde",
  excepts: "menos yo, excepto yo, salvo yo, menos a mí",
  joins: "y, e",
  supposes:
    "si, supongamos, supón, digamos, imaginemos, quizás, quizá, tal vez, ojalá, quisiera, gustaría, podría, sería, tendría, quiero, espero, pienso, a lo mejor, planeo, a punto de, me eché atrás, casi, soñé, soñaba, soñado",
  reports:
    "dice, dicen, decía, dijo, dijeron, según, cree que, afirma, supuestamente, rumor*, al parecer, parece que, cuenta que, escribió, piensa que, oí, cuenta, opina, asegura",
  scenes:
    "imagina, imagínate, finge, finjamos, juego de rol, guion, novela, cuento, relato, personaje, tú eres el, tú eres la, eres el, eres la, jugamos, escenario, ficticio, ficticia, poema, canción, capítulo, monólogo, tú haces de",
  ends: "volviendo a mí, en la vida real, fin del juego, se acabó el juego, otro tema, nuevo tema, cambio de tema",
  hands:
    "traduce*, traducir, tradúce*, corrige*, reescribe*, resume*, acorta*, continúa, completa*, reformula*, ordena estas, mejora este, frases",
  texts:
    "carta, texto, frase, oración, correo, mensaje*, artículo, reseña, poema, discurso, cita, siguiente*, anuncio, cartel, párrafo",
  frames:
    "por cierto, nota, contexto, para que sepas, no olvides, info, corrección, datos, detalles, situación, resumen, aclaración, por si sirve, por si ayuda, si sirve, si importa",
  undoes:
    "broma, bromeo, es broma, no realmente, mentira, olvídalo, olvida eso, quise decir, me equivoqué, en realidad no, eso era, eso es, lo anterior, traduce*, suena, no espera, espera no, perdón no, qué digo, me confundí, borra eso, retiro lo, era broma, bromeaba",
  points: "eso es, eso era, me refería a",
  orders:
    "memoriza, recuerda que el, guarda, ignora, reemplaza, sustituye, olvida, borra, a partir de ahora, desde ahora, debes, añade a",
  memory: "tu memoria, tu perfil, instrucciones, el administrador, del administrador, autoriz*, consient*",
  roles: "el usuario, la usuaria, del usuario, al usuario, el asistente, del asistente, al asistente",
  secrets: "contraseña*, tarjeta, clave secreta, número de cuenta, código de seguridad",
  writing: {
    abbreviations: "Sra?",
    headers: "de|para|asunto",
    inNames: "de|del|el|la|las|los|y",
    betweenClauses: "y|pero",
  },
  statements: {
    patterns: [
      { says: String.raw`\b[Vv]ivo en <place>`, predicate: "lives in", isDoubtful: true },
      { says: String.raw`\b[Mm]e llamo <name>`, predicate: "name is" },
    ],
    endsOfValue: "y|pero|desde",
    inPlaces: "de|la|el",
  },
  pleasantries:
    "a, acuerdo, adiós, agradezco, ah, ahora, amable, amigo, así, ayuda, bien, bueno, buen, buena, buenas, buenísimo, buenos, claro, como, cómo, con, conocerte, correcto, cuídate, de, del, descansa, día, días, disculpa, disculpe, el, encantado, encantada, es, eso, espera, está, estás, estoy, estupendo, exacto, excelente, fantástico, favor, feliz, fin, fue, genial, gracias, gracioso, gran, gusto, ha, hasta, haya, he, hola, igual, igualmente, increíble, jaja, la, las, lo, los, luego, mañana, más, me, mejor, mi, mil, momento, mucha, muchas, muchísimas, mucho, muy, nada, no, noche, noches, ok, oye, pasa, perdón, perdona, perfecto, pero, placer, por, problema, pronto, pues, qué, rato, saludos, sé, semana, señor, señora, seguro, sí, siento, sin, solo, suerte, supuesto, súper, tal, también, tan, tarde, tardes, te, tenga, ti, todo, tú, tus, un, una, usted, va, vale, vamos, vemos, verdad, verte, y, ya",
  recall: {
    empty: `el los las una unos unas del al y o en con por para es soy mi mis un`,
    persons: "yo|mis?",
  },
  standing: {
    values: {
      language: String.raw`(?:ingles|aleman|frances|espanol)\b`,
      address: String.raw`llamame\b.*`,
    },
    noMatter: `ahora responde siempre nunca`,
    conditions: "cuando",
    against: String.raw`nunca|deja`,
    frames: "por favor|y|pero|entonces|hola|quiero que|debes|tienes que",
    requests: "¿?(?:puedes|podrías)",
    therefore: "así que|por favor",
    always: "siempre|nunca|jamás",
    onwards:
      "siempre|nunca|jamás|(?:a partir|de) (?:de )?(?:ahora|hoy)(?: en adelante)?|en (?:el )?futuro|en adelante|cada vez",
    verbs: `agrega añade avisa cita confirma contesta da dame dime escribe evita explica haz habla incluye indica
      menciona muestra no pon propón recuerda responde resume traduce usa utiliza verifica`,
    topics: "cuando (?:te )?(?:pregunte|pida|pido|pregunto)",
    plainly: String.raw`deja de |no más (?:emojis|disculpas)|llámame (?=["«…]?\p{Lu})`,
    prefers: "prefiero(?= )",
    ends: "[,;–—]? *(?:(?:y|pero|así que|entonces) )?(?<!\\p{L})¿?(?:puedes|podrías|cómo|qué|cuál\\w*|dónde) ",
  },
};
