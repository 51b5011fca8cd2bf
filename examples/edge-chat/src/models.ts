export type Message = { role: "system" | "user" | "assistant"; content: string };
export type Model = {
  stream(prompt: Message[]): Promise<ReadableStream<string>>;
  /** The facts about its writer that a message states, in its own words. */
  facts(text: string): Promise<{ predicate: string; object: string }[]>;
};

export const modelOf = ({ AI, MODEL }: { AI: Ai; MODEL: string }): Model =>
  MODEL === "scripted" ? scripted : workersAi(AI, MODEL);

const FACTS = `List what the message says about its writer that will still be true next month, in the words of the message. Write each
predicate in the third person: "lives in", "name is", "works at", "is allergic to".`;
const strings = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});
const SHAPE = {
  type: "object",
  properties: { facts: { type: "array", items: strings("predicate", "object") } },
};

const workersAi = (ai: Ai, name: string): Model => ({
  stream: async (messages) => {
    const events = await ai.run(name as keyof AiModels, {
      messages,
      stream: true,
    });
    return events.pipeThrough(new TextDecoderStream()).pipeThrough(textOfEvents());
  },
  facts: async (text) => {
    const messages = [
      { role: "system", content: FACTS },
      { role: "user", content: text },
    ];
    const response_format = { type: "json_schema", json_schema: SHAPE };
    const { response } = (await ai.run(name as keyof AiModels, { messages, response_format })) as {
      response?: { facts?: { predicate: string; object: string }[] };
    };
    return response?.facts ?? [];
  },
});

/** Server-sent events, as `data: {"response": "…"}`, and at the end `data: [DONE]`. */
function textOfEvents(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { response } = line.startsWith("data: {") ? JSON.parse(line.slice(6)) : {};
        if (typeof response === "string") controller.enqueue(response);
      }
    },
  });
}

const SAYS =
  /\b(?:I (?:now )?(?<verb>live in|work at)|My (?<noun>name|cat) is(?: called)?) (?<object>\p{Lu}[\p{L} ]*)/gu;

/** Stands in for a model: it answers with the lines of memory in its prompt, and not with those of its own answers. */
const scripted: Model = {
  stream: async (prompt) => {
    const given = prompt.filter(({ role }) => role !== "assistant");
    const lines = given.flatMap(({ content }) => content.match(/^- .+$/gm) ?? []);
    const words = lines.length === 0 ? "I know nothing about you yet." : `I remember:\n${lines.join("\n")}`;
    const pieces = words.split(/(?<=\s)/).values();
    return new ReadableStream({
      pull(controller) {
        const { value, done } = pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
  },
  facts: async (text) =>
    [...text.matchAll(SAYS)].map(({ groups: { verb, noun, object = "" } = {} }) => ({
      predicate:
        verb === undefined ? (noun === "name" ? "name is" : "cat is called") : verb.replace(/^\w+/, "$&s"),
      object,
    })),
};
