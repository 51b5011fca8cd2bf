// GemStack's own use of a ConversationStore: how `forUser(user).continue(id)` finds a thread's owner, and what a turn stores.
import type { AiMessage, ConversationStore } from "../../src/adapters/gemstack.ts";

/** What the SDK throws where a thread is another user's. */
export class OwnershipError extends Error {}

/** One turn of `agent.forUser(user).continue(id).prompt(text)`: answers the history that the model was shown. */
export async function continued(
  store: ConversationStore,
  id: string,
  { user, text = "Go on" }: { user?: string; text?: string },
): Promise<AiMessage[]> {
  if (!(await isAllowed(store, id, user))) throw new OwnershipError(`${id} is owned by a different user`);
  const history = await store.load(id);
  await store.append(id, [
    { role: "user", content: text },
    { role: "assistant", content: `An answer to: ${text}` },
  ]);
  return history;
}

/** `agent.forUser(user).prompt(text)`: goes on with the user's latest thread of the agent, or begins one. Answers its id. */
export async function prompted(store: ConversationStore, user: string, agent: string): Promise<string> {
  const [latest] = (await store.list(user)).filter((thread) => thread.agent === agent);
  const id = latest?.id ?? (await store.create(undefined, { userId: user, agent }));
  await store.append(id, [{ role: "user", content: `of ${user}` }]);
  return id;
}

async function isAllowed(store: ConversationStore, id: string, user: string | undefined): Promise<boolean> {
  const own = user === undefined ? [] : await store.list(user);
  if (own.some((thread) => thread.id === id)) return true;
  const all = await store.list();
  const listed = all.find((thread) => thread.id === id);
  if (listed !== undefined) return listed.userId === undefined || listed.userId === user;
  // Not listed counts as nobody's, unless the list is empty though the store holds something.
  if (user === undefined || all.length > 0) return true;
  return own.length === 0 && (await store.load(id)).length === 0;
}
