// A Mastra memory over Cairn and the SDK's own beside it, and what is kept in both.
import type { MastraDBMessage } from "@mastra/core/agent";
import type { StorageThreadType } from "@mastra/core/memory";
import { InMemoryStore, type MemoryStorage } from "@mastra/core/storage";
import { CairnMemoryStorage } from "../src/mastra.ts";
import type { CairnOptions } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";

export const newStorage = async (
  user = newUser(),
  client: Partial<CairnOptions> = {},
): Promise<CairnMemoryStorage> => new CairnMemoryStorage({ memory: await clientOf(user, client), user });

/** The SDK's own store. */
export const reference = async (): Promise<MemoryStorage> => {
  const storage = await new InMemoryStore().getStore("memory");
  if (storage === undefined) throw new Error("it has one");
  return storage;
};

/** The same over both. */
export const both = async (
  run: (storage: MemoryStorage) => Promise<unknown>,
): Promise<[ours: unknown, theirs: unknown]> => Promise.all([newStorage().then(run), reference().then(run)]);

const START = Date.UTC(2026, 0, 1);
export const at = (minute: number): Date => new Date(START + minute * 60_000);

export const thread = (id: string, more: Partial<StorageThreadType> = {}): StorageThreadType => ({
  id,
  resourceId: "alice",
  title: `Thread ${id}`,
  metadata: { topic: "travel" },
  createdAt: at(0),
  updatedAt: at(0),
  ...more,
});

export const message = (
  id: string,
  minute: number,
  more: Partial<MastraDBMessage> = {},
): MastraDBMessage => ({
  id,
  role: minute % 2 === 0 ? "user" : "assistant",
  type: "text",
  threadId: "t",
  resourceId: "alice",
  createdAt: at(minute),
  content: { format: 2, parts: [{ type: "text", text: `text of ${id}` }], content: `text of ${id}` },
  ...more,
});

export const tenMessages = Array.from({ length: 10 }, (_, n) => message(`m${n}`, n));

export const filled = async (storage: MemoryStorage): Promise<MemoryStorage> => {
  await storage.saveThread({ thread: thread("t") });
  await storage.saveThread({ thread: thread("u", { resourceId: "bob" }) });
  await storage.saveMessages({ messages: tenMessages });
  await storage.saveMessages({
    messages: [
      message("u1", 3, { threadId: "u", resourceId: "bob" }),
      message("u2", 4, { threadId: "u", resourceId: "bob" }),
    ],
  });
  return storage;
};

/** Ours and the reference, filled once for all tests that only read. */
export const once = (fill: (storage: MemoryStorage) => Promise<unknown>) => {
  let pair: Promise<[MemoryStorage, MemoryStorage]> | undefined;
  const made = async (): Promise<[MemoryStorage, MemoryStorage]> => {
    const [ours, theirs] = [await newStorage(), await reference()];
    await fill(ours);
    await fill(theirs);
    return [ours, theirs];
  };
  return () => (pair ??= made());
};

export const idsOf = ({ messages }: { messages: readonly { id: string }[] }): string[] =>
  messages.map(({ id }) => id);
