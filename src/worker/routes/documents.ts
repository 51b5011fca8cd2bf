import { newRouter } from "../http/router.ts";

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
documents.get("/", (c) => c.redirect(`${c.get("basePath")}/docs`));
documents.get("/docs", (c) => c.html(page));
documents.get("/docs/:file", (c) => c.get("services").asset(c.req.raw));
