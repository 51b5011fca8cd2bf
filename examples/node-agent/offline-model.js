// A stand-in for a language model where there is no key: it notices a few sentences about the user, which it remembers
// with its tool, and answers a question with what it was told is remembered.

const TOLD = /^(?:i (?<verb>live in|work at|like|prefer)|my (?<what>.+?) is) (?<object>.+?)[.!]*$/i;

export const offlineModel = {
  specificationVersion: "v4",
  provider: "offline",
  modelId: "offline",
  supportedUrls: {},
  doGenerate: async ({ prompt }) => {
    const content = [answerTo(prompt)];
    const unified = content[0].type === "tool-call" ? "tool-calls" : "stop";
    return {
      content,
      finishReason: { unified, raw: undefined },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    };
  },
  doStream: () => {
    throw new Error("The offline model does not stream.");
  },
};

function answerTo(prompt) {
  const last = prompt.at(-1);
  if (last.role === "tool") return text(toldBy(last.content.find(({ type }) => type === "tool-result")));
  const parts = last.content.filter(({ type }) => type === "text").map((part) => part.text);
  const { verb, what, object } = TOLD.exec(parts.at(-1).trim())?.groups ?? {};
  if (object !== undefined) {
    const fact = { subject: "user", predicate: verb ? thirdPerson(verb) : `has the ${what}`, object };
    return {
      type: "tool-call",
      toolCallId: crypto.randomUUID(),
      toolName: "memory_remember_fact",
      input: JSON.stringify(fact),
    };
  }
  // Changes stand in the user's messages, the newest last; the profile in a system message; else what was said counts.
  const told = prompt.flatMap(({ content }) => textsOf(content)).join("\n");
  const changed = [...told.matchAll(/^- (.+?) \(\d{4}-\d\d-\d\d\)/gm)].at(-1)?.[1];
  const known = /^- user: ([^;\n]+)/m.exec(told)?.[1];
  const [said] = told.match(/(?<=^- \[.*\] ).*$/m) ?? [];
  const best = changed ?? (known === undefined ? said : `user ${known}`);
  return text(best === undefined ? "I do not know that yet." : `I remember: ${best}`);
}

/** A text that begins with "Remembered" needs no detail. Any other says that the fact waits, or that the tool failed. */
function toldBy(result) {
  const { value } = result?.output ?? {};
  const said = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return said.startsWith("Remembered") ? "I will remember that." : said;
}

const textsOf = (content) =>
  typeof content === "string"
    ? [content]
    : content.flatMap((part) => (part.type === "text" ? part.text : []));

/** `live in` is `lives in`. */
const thirdPerson = (verb) => verb.toLowerCase().replace(/^\w+/, (word) => `${word}s`);

const text = (said) => ({ type: "text", text: said });
