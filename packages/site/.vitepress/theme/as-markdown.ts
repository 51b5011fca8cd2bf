import { useData, withBase } from "vitepress";
import { defineComponent, h } from "vue";

/** A link to the text of the page. `target` keeps the router from looking for a page of that name. */
export const AsMarkdown = defineComponent(() => {
  const { page } = useData();
  return () =>
    h(
      "a",
      { class: "as-markdown", href: withBase(`/${page.value.relativePath}`), target: "_self" },
      "This page as Markdown",
    );
});
