import type { ListResourcesResult, ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { decodeCursor, encodeCursor, invalidCursor } from "../../domain/cursor.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { context } from "../use-cases/context.ts";
import { listMemories } from "../use-cases/browse.ts";
import type { Memory } from "../../domain/schema/memory.ts";
import { isReadOnly, ownerToRead } from "./access.ts";
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
  if (path === FACTS) return facts(asking, uri, query.get("cursor") ?? undefined);
  if (path === CONTEXT) return stableContext(asking, uri);
  if (!path.startsWith(PROCEDURES)) return fail("not_found");
  const title = decoded(path.slice(PROCEDURES.length));
  return title === null
    ? fail("not_found")
    : procedureText(asking, uri, { title, owner: query.get("owner"), scope: query.get("scope") });
}

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
  uri: string,
  { title, owner, scope }: { title: string; owner: string | null; scope: string | null },
): Promise<Result<ReadResourceResult>> {
  const whose = await ownerToRead(asking.access, owner ?? undefined);
  if (!whose.ok) return whose;
  const found = await findMemory(asking, whose.value.id, { title, scope: scope ?? undefined });
  if (!found.ok) return found;
  return found.value === null
    ? fail("not_found")
    : ok({ contents: [{ uri, mimeType: "text/markdown", text: found.value.text }] });
}
