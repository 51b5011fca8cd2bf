// `npm run python`: writes the client of Python, packages/python/cairn.py, from the OpenAPI document.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../dev/openapi.ts";
import { clientOf } from "./source/client.ts";
import type { Document } from "./source/document.ts";

// The shape is the Worker's promise.
const document = (await openApiDocument()) as Document;
const transport = readFileSync(join(import.meta.dirname, "source/transport.py"), "utf8");
writeFileSync(join(import.meta.dirname, "cairn.py"), clientOf(document, transport));
