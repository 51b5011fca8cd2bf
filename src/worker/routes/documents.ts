import type { Handler } from "hono";
import type { AppEnv } from "../http/context.ts";
import { nobody } from "../http/owner.ts";
import { newRouter, undocumented } from "../http/router.ts";

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Cairn API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="icon" href="data:," />
  </head>
  <body>
    <div id="reference"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** The reference as a page: Swagger UI from our own assets, so that it works offline and under any base path. */
export const documents = newRouter();
const serve = (path: string, answer: Handler<AppEnv>): void =>
  undocumented(documents, { method: "get", path, scope: "open", owner: nobody }, answer);
serve("/", (c) => c.redirect(`${c.get("basePath")}/docs`));
serve("/docs", (c) => c.html(page));
serve("/docs/{file}", (c) => c.get("services").asset(c.req.raw));
