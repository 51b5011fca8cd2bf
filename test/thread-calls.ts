import { type Answer, call } from "./call.ts";

type Read = {
  items: { seq: number; message: { role?: string; content: unknown }; compaction?: object }[];
  cursor?: string;
};

export const create = async (user: string, fields: object = {}) =>
  (await call(`/v1/users/${user}/threads`, { json: fields })).body;
export const append = (
  id: string,
  messages: unknown[],
  more: object = {},
  headers: Record<string, string> = {},
) => call(`/v1/threads/${id}/messages`, { json: { messages, ...more }, headers });
export const say = (content: string, role = "user") => ({ role, content });
export const read = async (id: string, query = ""): Promise<Read> =>
  (await call(`/v1/threads/${id}/messages?limit=1000&${query}`)).body;
export const contents = (page: Read): unknown[] => page.items.map(({ message }) => message.content);
export const said = async (id: string, query = "") => contents(await read(id, query));
export const fork = (id: string, fields: object = {}): Promise<Answer> =>
  call(`/v1/threads/${id}/fork`, { json: fields });

/** A thread of these messages, each of which says its own text. */
export async function threadOf(user: string, texts: readonly string[]) {
  const thread = await create(user);
  await append(
    thread.id,
    texts.map((text) => say(text)),
  );
  return thread;
}
