import { Extraction, ExtractionBody } from "../../domain/schema/extraction.ts";
import { requireWholeTenant } from "../http/authenticate.ts";
import { body, json, nothing, route } from "../http/describe.ts";
import { newRouter } from "../http/router.ts";
import { requireScope } from "../http/scope.ts";

const get = route("get", "/v1/extraction", {
  operationId: "getExtraction",
  summary: "Get the tenant's rules of extraction",
  ...requireScope("admin"),
  responses: { 200: json(Extraction, "As they were set; empty before.") },
});

const put = route("put", "/v1/extraction", {
  operationId: "putExtraction",
  summary: "Set the tenant's rules of extraction, and its patterns of redaction",
  description:
    "Takes the place of all that was set before. Holds for ingests and calls from now on, everywhere within a minute.",
  ...requireScope("admin"),
  request: { body: body(ExtractionBody) },
  responses: { 200: json(Extraction, "As they are set.") },
});

const remove = route("delete", "/v1/extraction", {
  operationId: "deleteExtraction",
  summary: "Delete the tenant's rules of extraction, and its patterns of redaction",
  ...requireScope("admin"),
  responses: { 204: nothing("Nothing is set.") },
});

const KEEPS_RULES = "keeps the tenant's rules of extraction";

export const extraction = newRouter("ingest")
  .openapi(get, async (c) => {
    requireWholeTenant(c, KEEPS_RULES);
    return c.json(await c.get("services").extraction.get(), 200);
  })
  .openapi(put, async (c) => {
    requireWholeTenant(c, KEEPS_RULES);
    const rules = c.req.valid("json");
    await c.get("services").extraction.put(rules);
    return c.json(rules, 200);
  })
  .openapi(remove, async (c) => {
    requireWholeTenant(c, KEEPS_RULES);
    await c.get("services").extraction.put({});
    return c.body(null, 204);
  });
