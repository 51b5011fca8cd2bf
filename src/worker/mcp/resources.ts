import type { ListResourcesResult, ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { decodeCursor, encodeCursor, invalidCursor } from "../../domain/cursor.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { context } from "../use-cases/context.ts";
import { listMemories } from "../use-cases/browse.ts";
import type { Memory } from "../../domain/schema/memory.ts";
import { isReadOnly, reach, type Reached, type Touches } from "./access.ts";
import { memoryLine } from "./lines.ts";
import { fittingPage, listed } from "./text.ts";
import { findMemory } from "./find-memory.ts";
import type { Context } from "./tool.ts";

const FACTS = "cairn://facts";
const PROCEDURES = "cairn://procedures/";
const CONTEXT = "cairn://context";

/** Procedures on one page of the list. */
const PAGE = 50;
/** Facts on one page, where their length allows it. */
const FACTS_PAGE = 200;

const factsResource: Resource = {
  uri: FACTS,
  name: "facts",
  title: "What is known about the user",
  description: "The facts about the user, the newest first.",
  mimeType: "text/plain",
};

const contextResource: Resource = {
  uri: CONTEXT,
  name: "context",
  title: "The memory for a conversation",
  description: "Who the user is and the most important facts, to begin a conversation with.",
  mimeType: "text/plain",
};

/** Resources that the list does not hold: further pages, and procedures by title. */
export const resourceTemplates = [
  {
    uriTemplate: `${FACTS}{?cursor}`,
    name: "facts-page",
    title: "A further page of facts",
    description: "Begins at the cursor at the end of the page before.",
    mimeType: "text/plain",
  },
  {
    uriTemplate: `${PROCEDURES}{title}{?owner,scope}`,
    name: "procedure",
    title: "A procedure by its title",
    description: "Of the user, or of a shared owner that the token names.",
    mimeType: "text/markdown",
  },
];

/** A page of resources: the facts, then the procedures of the user and of each shared owner. */
export async function listResources(
  { services, access }: Context,
  cursor: string | undefined,
): Promise<Result<ListResourcesResult>> {
  const owners = [access.user, ...access.shared.slice(0, limits.owners)];
  const list = `resources ${access.user}`;
  const begun = decodeCursor(list, cursor, ["string", "string"]);
  if (!begun.ok) return begun;
  const [first, inner] = begun.value ?? [access.user, ""];
  const at = owners.indexOf(first);
  const owner = owners[at];
  if (owner === undefined) return invalidCursor;
  const query = { kind: ["procedure" as const], limit: PAGE, ...(inner && { cursor: inner }) };
  const page = await listMemories(services, await userHash(owner), query);
  if (!page.ok) return page;
  const shown = page.value.items.map((procedure) => procedureResource(procedure, access.user));
  const following = page.value.cursor === undefined ? owners[at + 1] : owner;
  return ok({
    resources: cursor === undefined ? [factsResource, contextResource, ...shown] : shown,
    ...(following !== undefined && { nextCursor: encodeCursor(list, [following, page.value.cursor ?? ""]) }),
  });
}

function procedureResource({ title = "", userId, scope, updatedAt }: Memory, user: string): Resource {
  const whose = [
    ...(userId === user ? [] : [["owner", userId]]),
    ...(scope === undefined ? [] : [["scope", scope]]),
  ];
  const query = whose.map(([field = "", value = ""]) => `${field}=${encodeURIComponent(value)}`).join("&");
  return {
    uri: `${PROCEDURES}${encodeURIComponent(title)}${query === "" ? "" : `?${query}`}`,
    name: title,
    title,
    ...(query !== "" && { description: whose.map((one) => one.join(" ")).join(", ") }),
    mimeType: "text/markdown",
    annotations: { lastModified: new Date(updatedAt).toISOString() },
  };
}

/** Reads one resource; `not_found` for an unknown address. */
export async function readResource(asking: Context, uri: string): Promise<Result<ReadResourceResult>> {
  const address = addressOf(uri);
  if (address === null) return fail("not_found");
  const { path, query } = address;
  const reader = readers.find(({ matches }) => matches(path));
  return reader === undefined ? fail("not_found") : reader.read(asking, { uri, path, query });
}

type Address = { uri: string; path: string; query: URLSearchParams };
type Read = (asking: Context, at: Address) => Promise<Result<ReadResourceResult>>;
type Reader = { matches: (path: string) => boolean; owner: Touches; read: Read };

/** A kind of resources. Like a tool it says whose memory it touches. Reading needs the scope `read`. */
const reader = <Owner extends Touches>(
  matches: (path: string) => boolean,
  owner: Owner,
  read: (asking: Context, at: Address, whose: Reached[Owner]) => Promise<Result<ReadResourceResult>>,
): Reader => ({
  matches,
  owner,
  read: async (asking, at) => {
    const whose = await reach[owner](asking.access, "read", { owner: at.query.get("owner") ?? undefined });
    return whose.ok ? read(asking, at, whose.value) : whose;
  },
});

const readers: readonly Reader[] = [
  reader(
    (path) => path === FACTS,
    "user",
    (asking, { uri, query }) => facts(asking, uri, query.get("cursor") ?? undefined),
  ),
  reader(
    (path) => path === CONTEXT,
    "user",
    (asking, { uri }) => stableContext(asking, uri),
  ),
  reader((path) => path.startsWith(PROCEDURES), "owner", procedureText),
];

/** Without `URL`, which would resolve a title such as `..`. */
function addressOf(uri: string): { path: string; query: URLSearchParams } | null {
  const [, path, query = ""] = /^([^?#]+)(?:\?([^#]*))?$/.exec(uri) ?? [];
  return path === undefined ? null : { path, query: new URLSearchParams(query) };
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** The user's facts as text, also for the prompt `about_me`. */
export async function factsText({ services, access }: Context, cursor?: string): Promise<Result<string>> {
  const page = await fittingPage(
    async (many) =>
      listMemories(services, await userHash(access.user), {
        kind: ["fact"],
        limit: many,
        ...(cursor !== undefined && { cursor }),
      }),
    FACTS_PAGE,
    (fact) => memoryLine(fact, access.user),
  );
  if (!page.ok) return page;
  const { lines, cursor: next } = page.value;
  if (lines.length === 0) return ok("No facts are remembered.");
  const more = next === undefined ? [] : [`There are more: ${FACTS}?cursor=${next}`];
  return ok(listed(`Facts: ${lines.length}, the newest first.`, lines, more));
}

async function facts(asking: Context, uri: string, cursor?: string): Promise<Result<ReadResourceResult>> {
  const text = await factsText(asking, cursor);
  return text.ok ? ok({ contents: [{ uri, mimeType: "text/plain", text: text.value }] }) : text;
}

async function stableContext(asking: Context, uri: string): Promise<Result<ReadResourceResult>> {
  const made = await context(
    asking.services,
    asking.access.user,
    {},
    { readOnly: isReadOnly(asking.access) },
  );
  if (!made.ok) return made;
  return ok({ contents: [{ uri, mimeType: "text/plain", text: made.value.answer.stable.text }] });
}

/** The stored body, without a note for the model: the user or the host chose this document. */
async function procedureText(
  asking: Context,
  { uri, path, query }: Address,
  { id }: Reached["owner"],
): Promise<Result<ReadResourceResult>> {
  const title = decoded(path.slice(PROCEDURES.length));
  if (title === null) return fail("not_found");
  const found = await findMemory(asking, id, { title, scope: query.get("scope") ?? undefined });
  if (!found.ok) return found;
  return found.value === null
    ? fail("not_found")
    : ok({ contents: [{ uri, mimeType: "text/markdown", text: found.value.text }] });
}
