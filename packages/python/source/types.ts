// The schemas of the document as types of Python: an object with fields is a `TypedDict`, a choice of words a `Literal`.
import { type Document, nameOf, type Schema } from "./document.ts";
import { inDocstring, isKeyword, listed, pascalCase, wrapped } from "./text.ts";

/** Writes the types that are asked for, and those that these name, each once and behind its base. */
export class Types {
  readonly #document: Document;
  readonly #names = new Set<string>();
  readonly #lines: string[] = [];

  constructor(document: Document) {
    this.#document = document;
  }

  get text(): string {
    return this.#lines.join("\n");
  }

  /** The type of a schema; `name` is for a class that the schema needs and that the document has no name for. */
  of(schema: Schema, name: string): string {
    const component = nameOf(schema);
    if (component !== undefined) return this.#component(component);
    const { allOf, oneOf = schema.anyOf, items } = schema;
    if (allOf !== undefined) return this.#allOf(allOf, schema, name);
    if (oneOf !== undefined)
      return union(oneOf.map((one, i) => this.of(one, variantName(name, one, i, oneOf))));
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined && schema.enum.length <= MOST_WORDS) return literal(schema.enum);
    const kinds = [schema.type ?? []].flat();
    // Any value of JSON.
    if (kinds.length === 0 || kinds.length === 6) return "Any";
    return union(
      kinds.map((kind) => {
        if (kind === "array") return `List[${items === undefined ? "Any" : this.of(items, singular(name))}]`;
        if (kind === "object") return this.#object(schema, name);
        return PLAIN[kind] ?? fail(`no type of Python for '${kind}' of ${name}`);
      }),
    );
  }

  #component(name: string): string {
    const schema = this.#document.components.schemas[name] ?? fail(`the document lacks ${name}`);
    if (this.#names.has(name)) return name;
    if (isClass(schema)) return this.of(schema, name);
    this.#take(name);
    const type = this.of(schema, name);
    // An alias is evaluated where it stands, perhaps before the classes that it names.
    const quoted = type.replaceAll(/(?<!["\w])(\w+)(?![\w"[])/g, (word) =>
      this.#names.has(word) ? `"${word}"` : word,
    );
    const [, head = "", inner = "", tail = ""] = /^(\w+\[)(.*)(\])$/.exec(quoted) ?? [];
    this.#lines.push(
      ...comment(schema, ""),
      ...(head === "" ? [`${name} = ${quoted}`] : listed(`${name} = ${head}`, inner.split(", "), tail)),
      "",
      "",
    );
    return name;
  }

  #object(schema: Schema, name: string): string {
    const { properties, additionalProperties: more } = schema;
    // A `TypedDict` would refuse further fields.
    if (properties === undefined || (more !== undefined && more !== false))
      return `Dict[str, ${typeof more === "object" ? this.of(more, `${name}Value`) : "Any"}]`;
    this.#class(name, schema, "TypedDict");
    return name;
  }

  /** A schema with words about it, or with null beside it; or an object that another one extends. */
  #allOf(parts: readonly Schema[], schema: Schema, name: string): string {
    const [base = {}, more = {}, ...others] = parts;
    if (others.length > 0) fail(`${name} extends more than one schema`);
    const type = this.of(base, name);
    if (more.properties === undefined)
      return [more.type ?? []].flat().includes("null") ? union([type, "None"]) : type;
    this.#class(name, { ...more, description: schema.description ?? more.description ?? "" }, type);
    return name;
  }

  #class(name: string, { properties = {}, required = [], description }: Schema, base: string): void {
    this.#take(name);
    const fields = Object.entries(properties)
      // A field that no call may send has the type of nothing that there is.
      .filter(([, { readOnly }]) => readOnly !== true)
      .map(([field, schema]) => ({
        field,
        schema,
        type: this.of(schema, name + pascalCase(field)),
        isRequired: required.includes(field),
      }));
    const about = description === undefined || description === "" ? [] : [docstring(description, "    ")];
    const parts = [true, false].map((isRequired) => fields.filter((one) => one.isRequired === isRequired));
    const [needed = [], optional = []] = parts;
    if (fields.some(({ field }) => isKeyword(field))) {
      // `from` is no name of a field within a class.
      const bases = [
        ["Required", needed, ""],
        ["Optional", optional, ", total=False"],
      ] as const;
      const used = bases.filter(([, some]) => some.length > 0);
      for (const [suffix, some, total] of used)
        this.#lines.push(
          `_${name}${suffix} = TypedDict(`,
          `    "_${name}${suffix}",`,
          ...listed(
            "{",
            some.map(({ field, type }) => `"${field}": ${JSON.stringify(type)}`),
            `}${total},`,
            "    ",
          ),
          ")",
          "",
          "",
        );
      const parents = used.map(([suffix]) => `_${name}${suffix}`).join(", ");
      this.#lines.push(`class ${name}(${parents}):`, ...(about.length > 0 ? about : ["    pass"]), "", "");
      return;
    }
    let under = base;
    if (needed.length > 0 && optional.length > 0) {
      this.#lines.push(`class _${name}(${base}):`, ...fieldLines(needed), "", "");
      under = `_${name}`;
    }
    const own = optional.length > 0 ? optional : needed;
    const total = optional.length > 0 ? ", total=False" : "";
    const gap = about.length > 0 ? [""] : [];
    this.#lines.push(`class ${name}(${under}${total}):`, ...about, ...gap, ...fieldLines(own), "", "");
  }

  #take(name: string): void {
    if (this.#names.has(name)) fail(`two schemas are called ${name}`);
    this.#names.add(name);
  }
}

type Field = { field: string; schema: Schema; type: string };

const PLAIN: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

/** A list of more words, as that of the codes of errors, grows with each version: a program has to expect any. */
const MOST_WORDS = 30;

const isClass = ({ properties, additionalProperties: more = false, allOf }: Schema): boolean =>
  (properties !== undefined && more === false) || allOf?.[1]?.properties !== undefined;

const fieldLines = (fields: readonly Field[]): string[] =>
  fields.flatMap(({ field, schema, type }) => {
    const [, head = "", inner = "", tail = ""] = /^((?:\w+\[)+)([^[]*)(\]+)$/.exec(type) ?? [];
    const line =
      head === "" ? [`    ${field}: ${type}`] : listed(`${field}: ${head}`, inner.split(", "), tail, "    ");
    return [...comment(schema, "    "), ...line];
  });

const comment = ({ description }: Schema, indent: string): string[] =>
  description === undefined ? [] : wrapped(description, `${indent}# `);

export const docstring = (text: string, indent: string): string => {
  const lines = wrapped(inDocstring(text), `${indent}"""`, indent);
  return `${lines.join("\n")}${lines.length > 1 ? `\n${indent}` : ""}"""`;
};

function union(types: readonly string[]): string {
  const all = [...new Set(types)];
  const others = all.filter((type) => type !== "None");
  const one = others.length === 1 ? (others[0] ?? "Any") : `Union[${others.join(", ")}]`;
  return others.length < all.length && one !== "Any" ? `Optional[${one}]` : one;
}

const literal = (values: readonly (string | number | boolean | null)[]): string => {
  const words = values
    .filter((value) => value !== null)
    .map((value) => {
      if (typeof value === "boolean") return value ? "True" : "False";
      return JSON.stringify(value);
    });
  const type = `Literal[${words.join(", ")}]`;
  return values.includes(null) ? `Optional[${type}]` : type;
};

/** A variant is called by the one word of its field that only has one: `ChangeErasure`; or by its number. */
function variantName(name: string, schema: Schema, i: number, all: readonly Schema[]): string {
  const word = wordOf(schema);
  const isAlone = all.filter((other) => wordOf(other) === word).length === 1;
  return word !== undefined && isAlone ? name + pascalCase(word) : `${name}${pascalCase(word ?? "")}${i + 1}`;
}

const wordOf = ({ properties = {} }: Schema): string | undefined => {
  const words = Object.values(properties).flatMap(({ enum: some = [] }) =>
    some.length === 1 ? [some[0]] : [],
  );
  return words.find((word): word is string => typeof word === "string");
};

const singular = (name: string): string => name.replace(/ies$/, "y").replace(/s$/, "");

function fail(message: string): never {
  throw new Error(message);
}
