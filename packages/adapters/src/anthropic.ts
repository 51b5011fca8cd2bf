import type { MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import type { Cairn } from "../../client/src/cairn.ts";
import { bytesOf, fitsOneBatch, type MemoryFile, MemoryFiles, type Write } from "./anthropic/files.ts";
import { inRange, inserted, replaced } from "./anthropic/lines.ts";
import { listing, size } from "./anthropic/listing.ts";
import { limited, limitMethods, type TimeLimit } from "./limits/time-limit.ts";
import { requireUser } from "./options/require-options.ts";
import type { OptionNames } from "../../client/src/known-options.ts";
import { normalPath, ROOT } from "./anthropic/paths.ts";

export type { MemoryFailure } from "./context/memory-options.ts";
export { withMemory, type WithMemoryOptions } from "./anthropic/with-memory.ts";
export type { ContextOptions } from "./context/prompt-memory.ts";

export type CairnMemoryFilesOptions = TimeLimit & {
  /** The client; its token may read and write the user's entries. */
  memory: Pick<Cairn, "kv">;
  /** The user who owns the files. */
  user: string;
  /** Prepended to the paths in the keys, to separate a user's agents (`planner:`); none unless set. */
  prefix?: string;
  /** Deletes a file after this many milliseconds without a read or write; never unless set. */
  ttlMs?: number;
  /** The largest file, in bytes of UTF-8; unless set, the largest entry of Cairn: 1 MiB as JSON. */
  maxFileBytes?: number;
  /** Aborts the calls to Cairn, which then reject with its reason. */
  signal?: AbortSignal;
};

const OPTIONS: OptionNames<CairnMemoryFilesOptions> = {
  memory: true,
  user: true,
  prefix: true,
  ttlMs: true,
  maxFileBytes: true,
  signal: true,
  timeoutMs: true,
};

const METHODS = ["view", "create", "str_replace", "insert", "delete", "rename"] as const;

/** Tries of one edit against concurrent writers. In each round one of them succeeds. */
const ATTEMPTS = 40;

/**
 * The handlers of Anthropic's memory tool over a user's entries: one entry a file, its path the key
 * (`/memories/notes.txt`). A model's mistake throws an `Error` with the SDK's text. A failure of Cairn throws a
 * `CairnError`. The tool runner shows both to the model. Edits require the version that was read, so none is lost.
 *
 * @example
 * const runner = client.beta.messages.toolRunner({
 *   model, max_tokens, messages,
 *   tools: [betaMemoryTool(cairnMemoryFiles({ memory, user: "alice" }))],
 * });
 */
export function cairnMemoryFiles(options: CairnMemoryFilesOptions): MemoryToolHandlers {
  requireUser("cairnMemoryFiles", options, OPTIONS);
  const copy = (memory: Pick<Cairn, "kv">) => handlersOf(memory, options);
  return limitMethods(copy(limited(options.memory, options)), METHODS, options, copy);
}

function handlersOf(memory: Pick<Cairn, "kv">, options: CairnMemoryFilesOptions): MemoryToolHandlers {
  const { user, prefix = "", ttlMs, maxFileBytes = Infinity, signal } = options;
  const files = new MemoryFiles({ memory, user, prefix, ttlMs, signal });

  const sized = (path: string, text: string): string => {
    const bytes = bytesOf(text);
    if (bytes > maxFileBytes)
      throw new Error(`File ${path} is too large (${size(bytes)}). Maximum is ${size(maxFileBytes)}.`);
    return text;
  };

  const fileToEdit = async (given: string): Promise<MemoryFile> => {
    const path = normalPath(given);
    const file = path === ROOT ? null : await files.find(path);
    if (file !== null) return file;
    if (path === ROOT || (await files.isDirectory(path))) throw new Error(`The path ${given} is not a file.`);
    throw new Error(`The path ${given} does not exist. Please provide a valid path.`);
  };

  /** Applies a change to the current file, and retries while another writer is first. */
  const edit = (given: string, change: (file: MemoryFile) => string): Promise<void> =>
    untilFirst(given, async () => {
      const file = await fileToEdit(given);
      const { path, version } = file;
      return files.write([
        { path, text: sized(given, change({ ...file, path: given })), ifVersion: version },
      ]);
    });

  const requireNoFileAbove = async (path: string): Promise<void> => {
    const above = await files.fileAbove(path);
    if (above !== undefined) throw new Error(`The path ${above} is not a directory.`);
  };

  return {
    view: async ({ path: given, view_range }) => {
      const path = normalPath(given);
      const file = path === ROOT ? null : await files.find(path);
      if (file !== null)
        return `Here's the content of ${given} with line numbers:\n${inRange(file.text, view_range)}`;
      if (path !== ROOT && !(await files.isDirectory(path)))
        throw new Error(`The path ${given} does not exist. Please provide a valid path.`);
      return `Here're the files and directories up to 2 levels deep in ${given}, excluding hidden items and node_modules:\n${await listing(path, files.under(path))}`;
    },

    create: async ({ path: given, file_text }) => {
      const path = normalPath(given);
      const text = sized(given, requireText("file_text", file_text));
      const taken = new Error(`File ${given} already exists`);
      if (path === ROOT || (await files.isDirectory(path))) throw taken;
      await requireNoFileAbove(path);
      if (!(await files.write([{ path, text, ifVersion: null }]))) throw taken;
      return `File created successfully at: ${given}`;
    },

    str_replace: async ({ path, old_str, new_str }) => {
      requireText("old_str", old_str);
      requireText("new_str", new_str);
      let shown = "";
      await edit(path, (file) => {
        const { text, snippet } = replaced(file, old_str, new_str);
        shown = snippet;
        return text;
      });
      return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${shown}`;
    },

    insert: async ({ path, insert_line, insert_text }) => {
      requireText("insert_text", insert_text);
      await edit(path, ({ text }) => inserted(text, insert_line, insert_text));
      return `The file ${path} has been edited.`;
    },

    delete: async ({ path: given }) => {
      const path = normalPath(given);
      if (path === ROOT) throw new Error(`Cannot delete the ${ROOT} directory itself`);
      if (await files.remove(path)) return `Successfully deleted ${given}`;
      if (!(await files.isDirectory(path))) throw new Error(`The path ${given} does not exist`);
      await files.removeUnder(path);
      return `Successfully deleted ${given}`;
    },

    rename: async ({ old_path, new_path }) => {
      const from = normalPath(old_path);
      const to = normalPath(new_path);
      if (from === ROOT) throw new Error(`Cannot rename the ${ROOT} directory itself`);
      await untilFirst(old_path, async () => {
        if (to === ROOT || (await files.exists(to)))
          throw new Error(`The destination ${new_path} already exists`);
        const moves = await movesOf(files, from, to);
        if (moves.length === 0) throw new Error(`The path ${old_path} does not exist`);
        if (to.startsWith(`${from}/`)) throw new Error(`Cannot move ${old_path} into itself: ${new_path}`);
        await requireNoFileAbove(to);
        if (!fitsOneBatch(moves))
          throw new Error(
            `The directory ${old_path} holds too much to be renamed in one step. Please rename what is in it.`,
          );
        return files.write(moves);
      });
      return `Successfully renamed ${old_path} to ${new_path}`;
    },
  };
}

/** The writes that move a file or a whole directory, each conditional on the version read. */
async function movesOf(files: MemoryFiles, from: string, to: string): Promise<Write[]> {
  const file = await files.find(from);
  const moved = file === null ? [] : [file];
  if (file === null) for await (const one of files.under(from)) moved.push(one);
  return moved.flatMap(({ path, text, version }) => [
    { path: to + path.slice(from.length), text, ifVersion: null },
    { path, text: null, ifVersion: version },
  ]);
}

/** Retries while another writer is first. The pauses spread concurrent writers out. */
async function untilFirst(path: string, attempt: () => Promise<boolean>): Promise<void> {
  for (let tried = 1; tried <= ATTEMPTS; tried++) {
    if (await attempt()) return;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * Math.min(tried, 10)));
  }
  throw new Error(`The path ${path} is being changed by others all the time. Please try again.`);
}

/** Rejects an argument that the model left out, which would be written as `undefined`. */
function requireText(name: string, given: unknown): string {
  if (typeof given !== "string") throw new Error(`Invalid \`${name}\` parameter: it should be a string`);
  return given;
}
