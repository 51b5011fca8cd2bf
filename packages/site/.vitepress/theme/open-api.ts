import { useData, withBase } from "vitepress";
import { defineComponent, h, onMounted, ref, watchEffect } from "vue";

/** Swagger UI over the site's copy of the OpenAPI document. It is loaded on this page alone. */
export const OpenApi = defineComponent(() => {
  const place = ref<HTMLElement>();
  const { isDark } = useData();
  onMounted(async () => {
    // Swagger UI's own dark theme.
    watchEffect(() => document.documentElement.classList.toggle("dark-mode", isDark.value));
    const [{ default: swagger }] = await Promise.all([
      import("swagger-ui-dist/swagger-ui-es-bundle.js"),
      import("swagger-ui-dist/swagger-ui.css"),
    ]);
    swagger({
      url: withBase("/openapi.json"),
      domNode: place.value,
      docExpansion: "list",
      defaultModelsExpandDepth: -1,
      // The site has no Cairn to call; the page of a Cairn, on its /docs, has.
      supportedSubmitMethods: [],
      validatorUrl: null,
    });
  });
  return () => h("div", { ref: place, class: "open-api" });
});
