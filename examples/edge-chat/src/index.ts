import { type Binding, type Cairn, cairn, CairnError } from "edgecairn";
import { AGENT, answer } from "./chat.ts";
import { modelOf } from "./models.ts";

type Env = { MEMORY: Binding; AI: Ai; MODEL: string };

const refuse = (status: number, error: string): Response => Response.json({ error }, { status });

export default {
  async fetch(request, env, context) {
    // A foreign page must not act as the visitor. Browsers say whose page calls.
    if ((request.headers.get("Sec-Fetch-Site") ?? "same-origin") !== "same-origin")
      return refuse(403, "Only the chat's own page may call.");
    const memory = cairn({ binding: env.MEMORY, waitUntil: (work) => context.waitUntil(work) });
    const response = await route(request, env, memory).catch((error: unknown) => {
      console.error(error);
      return refuse(
        502,
        `The ${error instanceof CairnError ? "memory" : "model"} does not answer. Try again.`,
      );
    });
    response.headers.set("Cache-Control", "no-store, no-transform");
    return response;
  },
} satisfies ExportedHandler<Env>;

/** The binding reaches every user's memory: each call names the visitor of the cookie, whom no request can choose. */
async function route(request: Request, env: Env, memory: Cairn): Promise<Response> {
  const [, , resource, id] = new URL(request.url).pathname.split("/");
  const user = visitorOf(request);
  if (user === null)
    return resource === "threads" && id === undefined
      ? asNewVisitor(request, { threads: [] })
      : refuse(401, "Your browser sent no cookie. Reload the page.");
  switch (`${request.method} ${resource}`) {
    case "GET threads": {
      if (id === undefined) return Response.json({ threads: await threadsOf(memory, user) });
      if (!(await isTheirs(memory, user, id))) return refuse(404, "This conversation is gone.");
      const { items } = await memory.threads.read(id, { limit: 100 });
      return Response.json({ messages: items.map(({ message }) => message) });
    }
    case "POST chat": {
      const text = textIn(await request.json().catch(() => null));
      if (text === null) return refuse(400, "Say something, of 4,000 characters at most.");
      if (id !== undefined && !(await isTheirs(memory, user, id)))
        return refuse(404, "This conversation is gone.");
      const title = text.slice(0, 60).toWellFormed();
      const thread = id ?? (await memory.threads.create(user, { agent: AGENT, title })).id;
      const reply = await answer({ memory, user, model: modelOf(env) }, thread, text);
      return new Response(reply.pipeThrough(new TextEncoderStream()), {
        headers: { "Content-Type": "text/plain; charset=utf-8", Thread: thread },
      });
    }
    case "GET facts": {
      const { items } = await memory.memories.list(user, { kind: ["fact"] });
      return Response.json({ facts: items.map((fact) => fact.text) });
    }
    case "DELETE me":
      await memory.erasures.user(user);
      return asNewVisitor(request, {});
    default:
      return refuse(404, "There is nothing here.");
  }
}

async function threadsOf(memory: Cairn, user: string): Promise<{ id: string; title: string }[]> {
  const { items } = await memory.threads.list(user, { agent: AGENT, limit: 50 });
  return items.map(({ id, title }) => ({ id, title }));
}

const isTheirs = async (memory: Cairn, user: string, id: string): Promise<boolean> =>
  (await memory.threads.get(id))?.userId === user;

function textIn(body: unknown): string | null {
  const text =
    body instanceof Object && "text" in body && typeof body.text === "string" ? body.text.trim() : "";
  // No message holds U+0000, or half of a character.
  return text === "" || text.length > 4000 || text.includes("\0") || !text.isWellFormed() ? null : text;
}

/** The user is a random cookie. Put your login here. */
const visitorOf = (request: Request): string | null =>
  /(?:^|; )visitor=([\da-f-]{36})(?:;|$)/.exec(request.headers.get("Cookie") ?? "")?.[1] ?? null;

function asNewVisitor(request: Request, body: object): Response {
  const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
  const cookie = `visitor=${crypto.randomUUID()}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict${secure}`;
  return Response.json(body, { headers: { "Set-Cookie": cookie } });
}
