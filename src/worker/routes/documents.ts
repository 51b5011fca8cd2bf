import { newRouter, page } from "../http/router.ts";

const reference = `<!doctype html>
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
page(documents, "/", (c) => c.redirect(`${c.get("basePath")}/docs`));
page(documents, "/docs", (c) => c.html(reference));
page(documents, "/docs/{file}", (c) => c.get("services").asset(c.req.raw));
// The pages of the documentation, for a language model that has the address of this Cairn alone.
page(documents, "/llms.txt", (c) => c.get("services").asset(c.req.raw));
