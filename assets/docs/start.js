// Starts the API reference on /docs. A file of its own, so that the page needs no inline script.
window.ui = SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "list",
  validatorUrl: null,
  persistAuthorization: false,
});
