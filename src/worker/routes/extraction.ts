import { Extraction, ExtractionBody } from "../../domain/schema/extraction.ts";
import { body, json, nothing, route } from "../http/describe.ts";
import { newRouter } from "../http/router.ts";
import { byAdmin } from "../http/owner.ts";

const TENANT = byAdmin("keeps the tenant's rules of extraction");

const get = route("get", "/v1/extraction", {
  operationId: "getExtraction",
  summary: "Get the tenant's rules of extraction",
  ...TENANT,
  responses: { 200: json(Extraction, "As they were set; empty before.") },
});

const put = route("put", "/v1/extraction", {
  operationId: "putExtraction",
  summary: "Set the tenant's rules of extraction, and its patterns of redaction",
  description:
    "Takes the place of all that was set before. Holds for ingests and calls from now on, everywhere within a minute.",
  ...TENANT,
  payload: "verbatim",
  request: { body: body(ExtractionBody) },
  responses: { 200: json(Extraction, "As they are set.") },
});

const remove = route("delete", "/v1/extraction", {
  operationId: "deleteExtraction",
  summary: "Delete the tenant's rules of extraction, and its patterns of redaction",
  ...TENANT,
  responses: { 204: nothing("Nothing is set.") },
});

export const extraction = newRouter("ingest")
  .answer(get, (_, services) => services.extraction.get())
  .answer(put, async (c, services) => {
    const rules = c.req.valid("json");
    await services.extraction.put(rules);
    return rules;
  })
  .answer(remove, (_, services) => services.extraction.put({}));
