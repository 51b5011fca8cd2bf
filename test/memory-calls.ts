import { type Answer, call, pagesOf } from "./call.ts";

/** A memory of an answer, as the tests read it. */
export type Seen = { id: string; version: number; text: string; validFrom: number } & Record<string, unknown>;

const at = (user: string, rest = "") => `/v1/users/${encodeURIComponent(user)}/memories${rest}`;
type Headers = Record<string, string>;

export const remember = (user: string, memory: object, headers: Headers = {}): Promise<Answer> =>
  call(at(user), { json: memory, headers });
export const rememberMany = (user: string, memories: object[], headers: Headers = {}): Promise<Answer> =>
  call(at(user, "/batch"), { json: { memories }, headers });
/** The outcome of a memory that is to be stored without fail. */
export async function remembered(user: string, memory: object): Promise<Seen> {
  const { status, body } = await remember(user, memory);
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body;
}
export const get = (user: string, id: string, query = ""): Promise<Answer> =>
  call(at(user, `/${id}?${query}`));
export const patch = (user: string, id: string, json: object, headers: Headers = {}): Promise<Answer> =>
  call(at(user, `/${id}`), { method: "PATCH", json, headers });
export const forget = (user: string, id: string, headers: Headers = {}): Promise<Answer> =>
  call(at(user, `/${id}`), { method: "DELETE", headers });
export const forgetWhere = (user: string, filter: object, more: object = {}): Promise<Answer> =>
  call(at(user, "/forget"), { json: { filter, ...more } });
export const forgetAll = (user: string): Promise<Answer> => call(at(user), { method: "DELETE" });
export const restoreVersion = (user: string, id: string, version: number, headers: Headers = {}) =>
  call(at(user, `/${id}/restore`), { json: { version }, headers });
export const release = (user: string, id: string, headers: Headers = {}): Promise<Answer> =>
  call(at(user, `/${id}/release`), { method: "POST", headers });
export const listed = (user: string, query = ""): Promise<Answer> => call(at(user, `?${query}`));
export const list = async (user: string, query = ""): Promise<Seen[]> =>
  (await listed(user, `limit=1000&${query}`)).body.items;
/** The texts of a list, sorted. */
export const listTexts = async (user: string, query = ""): Promise<string[]> =>
  (await list(user, query)).map(({ text }) => text).toSorted();
export const history = async (user: string, id: string): Promise<Seen[]> =>
  (await call(at(user, `/${id}/history`))).body.items;
export const historyPage = (user: string, id: string, query = ""): Promise<Answer> =>
  call(at(user, `/${id}/history?${query}`));
export const recall = async (user: string, query: object): Promise<Seen[]> =>
  (await call(`/v1/users/${encodeURIComponent(user)}/recall`, { json: query })).body.hits;
export const recallTexts = async (user: string, query: object): Promise<string[]> =>
  (await recall(user, query)).map(({ text }) => text).toSorted();

/** All pages of a list, by its cursors. `between` is called after each page. */
export async function pages(
  user: string,
  query: string,
  between: (page: number) => Promise<unknown> = async () => {},
): Promise<Seen[]> {
  const found: Seen[] = [];
  let page = 0;
  for await (const { items } of pagesOf(at(user, `?${query}`))) {
    found.push(...items);
    await between(++page);
  }
  return found;
}
