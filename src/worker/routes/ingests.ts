import { notesOf } from "../../domain/conversation/message-notes.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { Ingest, IngestBody, Ingested, ingestPath } from "../../domain/schema/ingest.ts";
import { NO_STORE, wrapTime } from "../http/answer.ts";
import { body, idempotencyHeader, json, noBody, route } from "../http/describe.ts";
import { unwrap } from "../http/failure.ts";
import { idempotencyKeyOf } from "../http/idempotency.ts";
import { rawMessages } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { ofUser, ownedBy } from "../http/owner.ts";
import { writerOf } from "../http/writer.ts";
import { ingest, readIngest, retryIngest } from "../use-cases/ingest.ts";

const start = route("post", "/v1/users/{user}/ingest", {
  operationId: "ingest",
  summary: "Store a conversation, and extract memories from it",
  description:
    "Stores the messages that are not stored yet, and answers. Facts, episodes and procedures are extracted in the background. Each is checked against the messages that it cites, and quarantined if a check fails.",
  scope: "write",
  owner: ofUser,
  request: { params: userPath, headers: idempotencyHeader, body: body(IngestBody) },
  responses: { 202: json(Ingested, "The messages are stored, and recall finds them by their words.") },
});

const get = route("get", "/v1/ingests/{id}", {
  operationId: "getIngest",
  summary: "Get the progress of an ingest, and its results",
  description: "Ended ingests are kept for seven days.",
  scope: "read",
  owner: ownedBy("id"),
  request: { params: ingestPath },
  responses: { 200: json(Ingest, "The ingest.") },
});

const retry = route("post", "/v1/ingests/{id}/retry", {
  operationId: "retryIngest",
  summary: "Extract again what failed",
  description:
    "An ingest that ran without a model is extracted anew if one is bound now. A complete ingest stays as it is.",
  scope: "write",
  owner: ownedBy("id"),
  request: { params: ingestPath, body: noBody },
  responses: { 202: json(Ingest, "The ingest.") },
});

export const ingests = newRouter("ingest")
  .openapi(start, async (c) => {
    const given = c.req.valid("json");
    const request = {
      body: given,
      bodies: given.messages === undefined ? [] : rawMessages(c),
      by: writerOf(c),
      once: await idempotencyKeyOf(c),
    };
    const started = ingest(c.get("services"), c.req.valid("param").user, request);
    const answer = { ...unwrap(await wrapTime(c, "object", started)), ...notesOf(given.messages ?? []) };
    return c.json(answer, 202, NO_STORE);
  })
  .openapi(get, async (c) => {
    const { id } = c.req.valid("param");
    return c.json(unwrap(await readIngest(c.get("services"), id)), 200, NO_STORE);
  })
  .openapi(retry, async (c) => {
    const { id } = c.req.valid("param");
    return c.json(unwrap(await retryIngest(c.get("services"), id)), 202, NO_STORE);
  });
