import { call } from "./call.ts";

export type Operation = {
  method: string;
  path: string;
  scope: string | undefined;
  hasBody: boolean;
  needsBody: boolean;
  operationId: string | undefined;
  /** The headers that it describes, in lower case. */
  headers: string[];
  /** The parameters of its query. */
  parameters: string[];
};

type Document = {
  paths: Record<
    string,
    Record<
      string,
      {
        operationId?: string;
        security?: { bearer: string[] }[];
        parameters?: { in: string; name: string }[];
        requestBody?: { required?: boolean };
      }
    >
  >;
};

/** Every operation of the OpenAPI document: tests that are made from it forget none. */
export async function operations(): Promise<Operation[]> {
  const { paths } = (await call("/openapi.json")).body as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security, parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      scope: security?.[0]?.bearer[0],
      hasBody: requestBody !== undefined,
      needsBody: requestBody?.required === true,
      operationId,
      headers: parameters.filter((one) => one.in === "header").map(({ name }) => name.toLowerCase()),
      parameters: parameters.filter((one) => one.in === "query").map(({ name }) => name),
    })),
  );
}

const UNKNOWN = "019a0000-0000-7000-8000-000000000000";

/** The operation's path for this user, thread and so on. */
export function pathOf(
  { path }: Operation,
  {
    user,
    threadId,
    memoryId = UNKNOWN,
    compactionId = UNKNOWN,
    erasureId = threadId,
    ingestId = threadId,
    recallId = threadId,
  }: {
    user: string;
    threadId: string;
    memoryId?: string;
    compactionId?: string;
    erasureId?: string;
    ingestId?: string;
    recallId?: string;
  },
): string {
  return path
    .replace("/threads/{id}", `/threads/${threadId}`)
    .replace("/erasures/{id}", `/erasures/${erasureId}`)
    .replace(/\/(ingests|recalls)\/{id}/, (_, kind) => `/${kind}/${kind === "ingests" ? ingestId : recallId}`)
    .replace("{user}", encodeURIComponent(user))
    .replace("{key}", "some%2Fkey")
    .replace("{seq}", "1")
    .replace("{tokenId}", UNKNOWN)
    .replace("{compaction}", compactionId)
    .replace("{id}", memoryId);
}
