import type { Cairn, Thread } from "edgecairn";
import { useLoad } from "../parts/load.ts";
import { useSession } from "../shell/session.ts";
import { roleOf, wordsOf } from "./messages.ts";

/** Of a thread that nobody gave one. */
const NO_TITLE = "New conversation";
const isNamed = ({ title }: Thread): boolean => title !== "" && title !== NO_TITLE;

/** Messages that are looked at: an instruction of the system may come before the first of the user. */
const FIRST = 3;
const LONGEST = 120;

/** Titles that were made of messages, by the thread's id. A row that is scrolled back has its own at once. */
export type Titles = Map<string, Promise<string>>;

async function firstWords(memory: Cairn, { id, length }: Thread): Promise<string> {
  if (length === 0) return NO_TITLE;
  const { items } = await memory.threads.read(id, { order: "oldest", limit: FIRST });
  const first = items.find(({ message }) => roleOf(message) === "user") ?? items[0];
  const words = first === undefined ? "" : wordsOf(first.message).trim();
  return words === "" ? NO_TITLE : words.slice(0, LONGEST);
}

/** The title of a thread, or else the beginning of its first message. */
export function Title({ thread, titles }: { thread: Thread; titles?: Titles }) {
  const { memory } = useSession();
  const made = useLoad(() => {
    if (isNamed(thread)) return Promise.resolve(thread.title);
    const title = titles?.get(thread.id) ?? firstWords(memory, thread);
    titles?.set(thread.id, title);
    title.catch(() => titles?.delete(thread.id));
    return title;
  }, [thread.id, thread.title]);
  const words = isNamed(thread) ? thread.title : (made.value ?? (made.loading ? " " : NO_TITLE));
  return <bdi>{words}</bdi>;
}
