// Which entries of an export have the shape that its source reads. An odd one costs itself alone.
import { CannotGoOn } from "../../cli/transfer/cairn.ts";
import { type Found, inShort, isObject, type OddEntry, type Remark, type Shape } from "./source.ts";

/** The message has the path of the first wrong field, and what is expected there. */
export class WrongShape extends CannotGoOn {
  /** The field and its fault without places and values, so that equal faults are counted together. */
  readonly fault: string;

  constructor(message: string, fault: string) {
    super(message);
    this.fault = fault;
  }
}

/** The shapes of one export: a file, or a folder of files. */
export class Shapes {
  #fitting = 0;
  #first: WrongShape | null = null;

  /** Reads one value of a file. A value of a wrong shape is a remark, and so is an entry of it. */
  read(
    { file, path, value }: { file: string; path: string; value: unknown },
    reading: (value: unknown, shape: Shape) => readonly Found[],
  ): readonly Found[] {
    const odd: Remark[] = [];
    const before = this.#fitting;
    const entry = <T>(read: () => T, { entries, example }: OddEntry): T | null => {
      try {
        const one = read();
        this.#fitting++;
        return one;
      } catch (error) {
        if (!(error instanceof WrongShape)) throw error;
        this.#first ??= error;
        odd.push({ type: "skipped", reason: `${entries} of a wrong shape: ${error.fault}`, example });
        return null;
      }
    };
    const example = nameOf(value) ?? (path === "" ? file : path);
    const read = () => reading(value, Object.assign(shapeIn(file, path), { entry }));
    const found = entry(read, { entries: "entries", example });
    // A conversation of odd messages alone shows that their shape is another.
    if (found !== null && odd.length > 0 && this.#fitting === before + 1) this.#fitting--;
    return [...(found ?? []), ...odd];
  }

  /** Throws the first `WrongShape` if nothing had the shape. */
  refuseForeign(): void {
    if (this.#fitting === 0 && this.#first !== null) throw this.#first;
  }
}

const shapeIn =
  (file: string, path: string) =>
  <T>(schema: Parsing<T>, value: unknown, within = ""): T => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const steps = issue?.path ?? [];
    const field = steps.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`));
    const where = `${path}${within}${field.join("")}`.replace(/^\./, "");
    const problem = issue === undefined ? "has a wrong shape" : problemIn(issue);
    const name = steps.filter((step) => typeof step === "string").join(".") || within.replace(/^.*\./, "");
    const fault = `${/^\w/.test(name) ? `${name} ` : ""}${problem.replace(/:.*$/s, "")}`;
    throw new WrongShape(`${file}${where === "" ? "" : `: ${where}`}: ${problem}.`, fault);
  };

type Issue = { message: string; path: readonly PropertyKey[]; code?: string | undefined; expected?: unknown };
type Parsing<T> = {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } };
};

/** A message of zod itself names types of JavaScript. */
const problemIn = ({ message, expected }: Issue): string =>
  message.startsWith("Invalid input: expected") ? `is no ${String(expected)}` : message;

const NAMES = [
  "title",
  "name",
  "id",
  "uuid",
  "conversation_id",
  "memory_id",
  "thread_id",
  "session_id",
  "key",
] as const;

/** The name by which the person knows an entry. */
function nameOf(value: unknown): string | null {
  if (!isObject(value)) return null;
  for (const name of NAMES) {
    const given = value[name];
    if (typeof given === "string" && given.trim() !== "") return inShort(given);
  }
  return null;
}
