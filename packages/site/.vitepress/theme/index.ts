import type { Theme } from "vitepress";
import Default from "vitepress/theme";
import { h } from "vue";
import { AsMarkdown } from "./as-markdown.ts";
import { OpenApi } from "./open-api.ts";
import "./style.css";

export default {
  extends: Default,
  Layout: () => h(Default.Layout, null, { "doc-footer-before": () => h(AsMarkdown) }),
  enhanceApp({ app }) {
    app.component("OpenApi", OpenApi);
  },
} satisfies Theme;
