// The operations of the document as methods of the client.
import { type Document, nameOf, type Operation, type Parameter, type Schema } from "./document.ts";
import { inDocstring, isKeyword, listed, snakeCase, wrapped } from "./text.ts";
import type { Types } from "./types.ts";

/** Calls by POST that change nothing when they are repeated; the document says nothing of that. */
const REPEATABLE: readonly string[] = [
  "recall",
  "context",
  "validateConversation",
  "recallOutcome",
  "createErasure",
  "retryIngest",
  "resumeThread",
  "importUser",
];
/** A key goes with one thread and with no read, so that only the caller knows if there may be one. */
const KEY_OF_CALLER: readonly string[] = ["batchEntries"];

const LINES = "application/x-ndjson";
const JSON_TYPE = "application/json";

type Of = { method: string; path: string; operation: Operation };
/** A parameter as the method has it. */
type Argument = { name: string; type: string; parameter: Parameter };

/** The methods of the client, in the order of the document. */
export function methodsOf(document: Document, types: Types): string {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Of => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const known = new Set(all.map(({ operation }) => operation.operationId));
  for (const name of [...REPEATABLE, ...KEY_OF_CALLER])
    if (!known.has(name)) throw new Error(`the document has no operation ${name}`);
  return all.flatMap((one) => methodLines(one, types, document)).join("\n");
}

function methodLines(of: Of, types: Types, document: Document): string[] {
  const { operation } = of;
  const content = answerOf(operation);
  const json = content?.[JSON_TYPE];
  const lines = content?.[LINES];
  const method = snakeCase(operation.operationId);
  const plain = json === undefined && lines !== undefined ? [] : plainMethod(of, types);
  const paged = json === undefined ? null : itemsOf(json.schema, document);
  const isPaged = paged !== null && of.method === "GET" && named(operation, "cursor") !== undefined;
  return [
    ...plain,
    ...(isPaged ? pagedMethod(of, types, { method, items: paged }) : []),
    ...(lines === undefined ? [] : streamMethod(of, types, json === undefined ? null : paged)),
  ];
}

function plainMethod({ method, path, operation }: Of, types: Types): string[] {
  const { operationId } = operation;
  const called = argumentsOf(operation, types);
  const body = bodyOf(operation, types);
  const headers = called.filter(({ parameter }) => parameter.in === "header");
  const query = called.filter(({ parameter }) => parameter.in === "query");
  const answer = answerOf(operation)?.[JSON_TYPE]?.schema;
  const type = answer === undefined ? "None" : types.of(answer, answerName(operationId));
  const returned = "304" in operation.responses && type !== "Any" ? `Optional[${type}]` : type;
  const keyed =
    headers.some(({ name }) => name === "idempotency_key") && !KEY_OF_CALLER.includes(operationId);
  return [
    ...signature(snakeCase(operationId), called, body, returned),
    ...about(operation, method, path, called),
    ...table("query", query.map(entry)),
    ...table(
      "headers",
      headers.map((one) => headerEntry(one, keyed)),
    ),
    ...listed(
      `${returned === "None" ? "" : "return "}self.request(`,
      [
        `"${method}"`,
        segmentsOf(path, operation),
        ...(query.length > 0 ? ["query=query"] : []),
        ...(headers.length > 0 ? ["headers=headers"] : []),
        ...(body === null ? [] : [`body=${body.sent}`]),
        `repeatable=${repeatable(method, operation, keyed)}`,
        ...(operation.requestBody?.content[LINES] === undefined ? [] : ["long=True"]),
      ],
      ")",
      "        ",
    ),
    "",
  ];
}

const table = (name: string, entries: readonly string[]): string[] =>
  entries.length > 0 ? listed(`${name} = {`, entries, "}", "        ") : [];

/** The items of all pages; named `iter_…` where the pages are `list_…`. */
function pagedMethod(
  { method: verb, path, operation }: Of,
  types: Types,
  { method, items }: { method: string; items: Schema },
): string[] {
  const called = argumentsOf(operation, types).filter(({ name }) => name !== "cursor");
  const given = called.map(({ name, parameter }) => (parameter.in === "path" ? name : `${name}=${name}`));
  const summary = `Go through the items of all pages of \`${method}\``;
  return [
    ...signature(iterName(method), called, null, `Iterator[${itemType(items, types, operation)}]`),
    ...about({ ...operation, summary }, verb, path, []),
    ...listed(
      `return self._items(lambda cursor: self.${method}(`,
      [...given, "cursor=cursor"],
      "))",
      "        ",
    ),
    "",
  ];
}

/** Lines as they come: the items of a list, or of an export the bytes, which are for files and for an import. */
function streamMethod({ method, path, operation }: Of, types: Types, items: Schema | null): string[] {
  // A stream has no pages.
  const called = argumentsOf(operation, types).filter(({ name }) => name !== "cursor" && name !== "limit");
  const query = called.filter(({ parameter }) => parameter.in === "query");
  const name = snakeCase(operation.operationId);
  const type = items === null ? "bytes" : itemType(items, types, operation);
  const given = [segmentsOf(path, operation), ...(query.length > 0 ? ["query"] : [])];
  return [
    ...signature(
      items === null ? name : name.replace(/^(?:list|get)_/, "stream_"),
      called,
      null,
      `Iterator[${type}]`,
    ),
    ...about({ ...operation, summary: `${operation.summary}, in one call` }, method, path, called),
    ...table("query", query.map(entry)),
    `        lines = self._stream(${given.join(", ")})`,
    items === null ? "        return lines" : "        return map(_line_of, lines)",
    "",
  ];
}

function signature(name: string, called: readonly Argument[], body: Body | null, returned: string): string[] {
  const positional = called.filter(({ parameter }) => parameter.in === "path");
  const others = called.filter(({ parameter }) => parameter.in !== "path");
  const keywords = others
    .toSorted((a, b) => Number(b.parameter.required ?? false) - Number(a.parameter.required ?? false))
    .map(({ name: argument, type, parameter }) =>
      parameter.required === true ? `${argument}: ${type}` : `${argument}: ${optional(type)} = None`,
    );
  const list = [
    "self",
    ...positional.map(({ name: argument, type }) => `${argument}: ${type}`),
    ...(body === null ? [] : [body.declared]),
    ...(keywords.length > 0 ? ["*", ...keywords] : []),
  ];
  return listed(`def ${name}(`, list, `) -> ${returned}:`, "    ");
}

function about({ summary }: Operation, method: string, path: string, called: readonly Argument[]): string[] {
  const told = called.flatMap(({ name, parameter }) =>
    parameter.schema.description === undefined || parameter.in === "path"
      ? []
      : wrapped(inDocstring(`${name}: ${parameter.schema.description}`), "        ", "            "),
  );
  return [
    ...wrapped(inDocstring(`${summary}.`), '        """', "        "),
    "",
    `        ${method} ${path}`,
    ...(told.length > 0 ? ["", ...told] : []),
    '        """',
  ];
}

const argumentsOf = ({ parameters = [], operationId }: Operation, types: Types): Argument[] =>
  parameters.map((parameter) => {
    const name = snakeCase(
      parameter.name.toLowerCase().startsWith("cairn-")
        ? parameter.name.slice(6).toLowerCase()
        : parameter.name,
    );
    return {
      name: isKeyword(name) ? `${name}_` : name,
      type: isBoolean(parameter.schema) ? "bool" : types.of(parameter.schema, operationId),
      parameter,
    };
  });

const isBoolean = (schema: Schema): boolean => schema.enum?.toSorted().join() === "false,true";

/** How the signature has a body, and how the call sends it. */
type Body = { declared: string; sent: string };

function bodyOf({ requestBody, operationId }: Operation, types: Types): Body | null {
  if (requestBody === undefined) return null;
  if (requestBody.content[LINES] !== undefined) return { declared: "lines: bytes", sent: "lines" };
  const schema = requestBody.content[JSON_TYPE]?.schema ?? {};
  // A body that has no field is none.
  if (schema.properties !== undefined && Object.keys(schema.properties).length === 0) return null;
  const isValue = nameOf(schema) === undefined && schema.properties === undefined;
  const type = types.of(schema, `${answerName(operationId)}Body`);
  const name = isValue ? "value" : "body";
  return requestBody.required === true
    ? { declared: `${name}: ${type}`, sent: name }
    : { declared: `${name}: Optional[${type}] = None`, sent: `_ABSENT if ${name} is None else ${name}` };
}

/** The path as a list of segments, with the arguments in it. */
function segmentsOf(path: string, { parameters = [] }: Operation): string {
  const segments = path
    .slice(1)
    .split("/")
    .map((segment) => {
      const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
      if (name === undefined) return `"${segment}"`;
      const isText = parameters.find((one) => one.name === name)?.schema.type === "string";
      return isText ? snakeCase(name) : `str(${snakeCase(name)})`;
    });
  return `[${segments.join(", ")}]`;
}

const entry = ({ name, parameter }: Argument): string => `"${parameter.name}": ${name}`;

function headerEntry({ name, parameter }: Argument, keyed: boolean): string {
  if (name === "if_match" || name === "if_none_match") return `"${parameter.name}": _version(${name})`;
  return keyed && name === "idempotency_key"
    ? `"${parameter.name}": idempotency_key or uuid.uuid4().hex`
    : `"${parameter.name}": ${name}`;
}

/** As Python: true if Cairn may get a call twice. */
function repeatable(method: string, operation: Operation, keyed: boolean): string {
  const { operationId } = operation;
  if (keyed) return "True";
  if (KEY_OF_CALLER.includes(operationId)) return "idempotency_key is not None";
  if (REPEATABLE.includes(operationId)) return "True";
  if (method === "POST" || method === "PATCH") return "False";
  // The first try may take the lease, or may be what makes the condition of the second one false.
  const names = ["lease", ...(method === "GET" ? [] : ["if-match", "if-none-match"])];
  const once = names
    .filter((name) => named(operation, name) !== undefined)
    .map((name) => `${snakeCase(name)} is None`);
  return once.length > 0 ? once.join(" and ") : "True";
}

const named = ({ parameters = [] }: Operation, name: string): Parameter | undefined =>
  parameters.find((one) => one.name === name);

const answerOf = ({ responses }: Operation) =>
  Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content;

/** The schema of one item, if the answer has `items`. */
function itemsOf(schema: Schema, { components }: Document): Schema | null {
  const { properties } = components.schemas[nameOf(schema) ?? ""] ?? schema;
  return properties?.items?.items ?? null;
}

/** The class of an item that the list's own schema has made already has the list's name. */
const itemType = (items: Schema, types: Types, operation: Operation): string => {
  if (nameOf(items) !== undefined) return types.of(items, "");
  const list = nameOf(answerOf(operation)?.[JSON_TYPE]?.schema ?? {}) ?? answerName(operation.operationId);
  return `${list}Item`;
};

const iterName = (method: string): string => method.replace(/^(?:list|get)_/, "iter_");

const answerName = (operationId: string): string =>
  operationId.charAt(0).toUpperCase() + operationId.slice(1);

const optional = (type: string): string =>
  type.startsWith("Optional[") || type === "Any" ? type : `Optional[${type}]`;
