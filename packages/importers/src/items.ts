// One pass over an export: its items with their users, within the limits of Cairn.
import { userHash } from "../../../src/domain/ids.ts";
import { userId } from "../../../src/domain/schema/bounds.ts";
import { type ExportFile, Progress } from "./files.ts";
import { fitMemory, type ImportedMemory } from "./fit.ts";
import { fitThread, type ImportedThread } from "./fit-thread.ts";
import { jsonValues } from "./json-values.ts";
import { Shapes } from "./shapes.ts";
import {
  type Found,
  type FoundMemory,
  type FoundThread,
  inShort,
  isObject,
  type Reader,
  type Remark,
  type Source,
  type SourceName,
} from "./source.ts";

export type Item =
  | { type: "memory"; user: string; memory: ImportedMemory }
  | { type: "thread"; user: string; thread: ImportedThread }
  | Remark;

export type Pass = {
  name: SourceName;
  source: Source;
  files: readonly ExportFile[];
  /** The user of everything. */
  user: string | undefined;
  /** The path of the field that holds the user, as `metadata.customer`. */
  userField: string | undefined;
  scope: string | undefined;
  now: number;
  /** Notes of a former pass. */
  names: Map<string, string>;
};

export const NO_USER = "no user: name one with --user, or a field with --user-field";

/** Yields all of it, in the order of the files. Throws `CannotGoOn` for a file or folder in which nothing has the shape. */
export async function* itemsOf(pass: Pass, doing: string): AsyncGenerator<Item, void> {
  const { source, files } = pass;
  const reader = source.open(pass.names);
  const fitter = new Fitter(pass);
  const progress = new Progress(doing, files);
  let [shapes, given] = [new Shapes(), files[0]?.given];
  for (const file of files) {
    if (file.given !== given) {
      shapes.refuseForeign();
      [shapes, given] = [new Shapes(), file.given];
    }
    const values = jsonValues(progress.read(file), { file: file.path, lists: source.lists });
    for await (const { path, value } of values) {
      const read = shapes.read({ file: file.path, path, value }, (one, shape) => reader.read(one, shape));
      yield* await fitter.fit(read, value);
    }
  }
  shapes.refuseForeign();
  yield* await fitter.fit(endOf(reader), undefined);
}

const endOf = (reader: Reader): readonly Found[] => reader.end?.() ?? [];

class Fitter {
  readonly #pass: Pass;
  readonly #seen = new Set<string>();

  constructor(pass: Pass) {
    this.#pass = pass;
  }

  async fit(found: readonly Found[], value: unknown): Promise<Item[]> {
    const items: Item[] = [];
    for (const one of found)
      if (one.type === "memory" || one.type === "thread") items.push(...(await this.#fitOne(one, value)));
      else items.push(one);
    return items;
  }

  async #fitOne(found: FoundMemory | FoundThread, value: unknown): Promise<Item[]> {
    const { user: forAll, userField, name: source, scope, now } = this.#pass;
    const skip = (reason: string): Item[] => [{ type: "skipped", reason, example: inShort(found.id) }];
    const user = forAll ?? (userField === undefined ? found.user : memberOf(value, userField));
    if (user === undefined || user === "") return skip(NO_USER);
    const checked = userId.safeParse(user);
    if (!checked.success) return skip(`not a user: ${checked.error.issues[0]?.message ?? user}`);
    const key = JSON.stringify([found.type, user, found.id]);
    if (this.#seen.has(key)) return skip("ids that came before");
    this.#seen.add(key);
    const fitting = { source, scope, now, owner: await userHash(user) };
    if (found.type === "thread") {
      const { thread, remarks } = fitThread(found, fitting);
      return [...remarks, ...(thread === null ? [] : [{ type: "thread" as const, user, thread }])];
    }
    const { memories, remarks } = fitMemory(found, fitting);
    return [...remarks, ...memories.map((memory) => ({ type: "memory" as const, user, memory }))];
  }
}

/** The text or number at a path such as `metadata.customer` or `namespace.1`. */
function memberOf(value: unknown, path: string): string | undefined {
  let inner = value;
  for (const step of path.split(".")) {
    if (Array.isArray(inner)) inner = inner[Number(step)];
    else if (isObject(inner) && Object.hasOwn(inner, step)) inner = inner[step];
    else return undefined;
  }
  return typeof inner === "string" || typeof inner === "number" ? String(inner) : undefined;
}
