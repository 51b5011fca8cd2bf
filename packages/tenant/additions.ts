// An operator's additions to a tenant's file, at any depth: the difference between the file and what would be made without it.
import { isDeepStrictEqual } from "node:util";
import type { TomlTable, TomlValue } from "smol-toml";

/** The fields that name an element of a list of tables: the first of these that it has. */
const NAMES = ["binding", "name", "tag", "pattern", "class_name"];

/** Returns the parts of `file` that `made` lacks. Where both have a value, that of `made` counts; null: nothing was added. */
export function additionsOf(file: TomlTable, made: TomlTable): TomlTable | null {
  const added = Object.entries(file).flatMap(([key, value]): [string, TomlValue][] => {
    const other = made[key];
    if (other === undefined) return [[key, value]];
    const more = addedTo(value, other);
    return more === null ? [] : [[key, more]];
  });
  return added.length === 0 ? null : Object.fromEntries(added);
}

function addedTo(value: TomlValue, made: TomlValue): TomlValue | null {
  if (isTable(value) && isTable(made)) return additionsOf(value, made);
  if (!Array.isArray(value) || !Array.isArray(made)) return null;
  const added = value.flatMap((element): TomlValue[] => {
    const twin = twinOf(element, made);
    if (twin === undefined) return [element];
    if (!isTable(element) || !isTable(twin)) return [];
    const more = additionsOf(element, twin);
    // By its name it finds its place again.
    return more === null ? [] : [{ ...nameOf(element), ...more }];
  });
  return added.length === 0 ? null : added;
}

/** `made` with what was added to it. */
export function merged(made: TomlTable, added: TomlTable): TomlTable {
  return {
    ...made,
    ...Object.fromEntries(Object.entries(added).map(([key, value]) => [key, both(made[key], value)])),
  };
}

function both(made: TomlValue | undefined, added: TomlValue): TomlValue {
  if (made === undefined) return added;
  if (isTable(made) && isTable(added)) return merged(made, added);
  if (!Array.isArray(made) || !Array.isArray(added)) return added;
  const kept = made.map((element) => {
    const more = twinOf(element, added);
    return isTable(element) && isTable(more) ? merged(element, more) : element;
  });
  return [...kept, ...added.filter((element) => twinOf(element, made) === undefined)];
}

/** The element of a list that is the same, or a table of the same name. */
function twinOf(element: TomlValue, list: readonly TomlValue[]): TomlValue | undefined {
  const name = isTable(element) ? nameOf(element) : null;
  if (name === null || Object.keys(name).length === 0)
    return list.find((other) => isDeepStrictEqual(other, element));
  return list.find((other) => isTable(other) && isDeepStrictEqual(nameOf(other), name));
}

function nameOf(table: TomlTable): TomlTable {
  const key = NAMES.find((name) => table[name] !== undefined);
  const name = key === undefined ? undefined : table[key];
  return key === undefined || name === undefined ? {} : { [key]: name };
}

const isTable = (value: TomlValue | undefined): value is TomlTable =>
  typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);

/** Their places, to be shown: `observability.traces`, `triggers.crons`. */
export function placesOf(added: TomlTable, made: TomlTable, above = ""): string[] {
  return Object.entries(added).flatMap(([key, value]) => {
    const place = `${above}${key}`;
    const there = made[key];
    return isTable(value) && isTable(there) ? placesOf(value, there, `${place}.`) : [place];
  });
}
