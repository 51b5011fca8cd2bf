// The site: docs/ as it is. Nothing is listed a second time; docs/README.md is the navigation.
import { join, relative } from "node:path";
import { renderMermaidSVG } from "beautiful-mermaid";
import { defineConfig } from "vitepress";
import { ON_GITHUB, targetOf } from "../../dev/links.ts";
import { addressOf, pages, parts, root, siteFileOf } from "./pages.ts";
import { serveText, writeTexts } from "./texts.ts";

const REPOSITORY = "https://github.com/edgecairn/cairn";

/** The anchors that GitHub gives to headings: the pages' links are written for it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

/** A drawing, in the site's colours. As a value: Vue takes a style out of a template, and a drawing has one. */
function drawing(text: string): string {
  const svg = renderMermaidSVG(text, {
    bg: "var(--vp-c-bg)",
    fg: "var(--vp-c-text-1)",
    accent: "var(--vp-c-brand-1)",
    // Else labels are too faint to read.
    muted: "var(--vp-c-text-1)",
    line: "var(--vp-c-text-2)",
    transparent: true,
    font: "Inter",
  });
  // The site has the font. Its import from elsewhere would tell another host who reads.
  const value = JSON.stringify(svg.replaceAll(/@import[^;]*;/g, ""));
  return `<div class="drawing" v-html="${value.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></div>`;
}

export default defineConfig({
  title: "Cairn",
  description: "Memory for AI agents on Cloudflare Workers",
  lang: "en",
  srcDir: "../../docs",
  outDir: "build",
  cacheDir: "node_modules/.vitepress",
  rewrites: Object.fromEntries(
    pages()
      .filter((page) => page.endsWith("README.md"))
      .map((page) => [page.replace(/^docs\//, ""), siteFileOf(page)]),
  ),
  cleanUrls: true,
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    anchor: { slugify: anchorOf },
    config(md) {
      md.core.ruler.push("links of the repository", ({ tokens, env }: { tokens: Token[]; env: Env }) => {
        const page = relative(root, env.realPath ?? env.path);
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const link = token.type === "link_open" ? token.attrGet("href") : null;
          const target = link === null ? null : targetOf(link, page);
          if (target === null) continue;
          const { path, anchor } = target;
          const isPage = path.startsWith("docs/") && path.endsWith(".md");
          token.attrSet("href", `${isPage ? addressOf(path) : `${ON_GITHUB}${path}`}${anchor}`);
        }
      });
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const token = tokens[index];
        return token?.info.trim() === "mermaid"
          ? drawing(token.content)
          : (fence?.(tokens, index, ...rest) ?? "");
      };
      // In a narrow cell a path breaks behind a slash, and nowhere else.
      const code = md.renderer.rules.code_inline;
      md.renderer.rules.code_inline = (...given) =>
        code?.(...given).replaceAll(/(?<=[\w}])\/(?=[\w{])/g, "/<wbr>") ?? "";
    },
  },
  vite: {
    publicDir: false,
    server: { fs: { allow: [root] } },
    build: { chunkSizeWarningLimit: 2000 },
    plugins: [
      {
        // The pages import it, and docs/ has no packages.
        name: "vue for docs",
        enforce: "pre",
        resolveId(id, importer) {
          if (!/^vue(?:\/|$)/.test(id) || importer?.startsWith(join(root, "docs/")) !== true) return null;
          return this.resolve(id, import.meta.filename, { skipSelf: true });
        },
      },
      {
        name: "texts",
        configureServer({ middlewares }) {
          middlewares.use(serveText);
        },
      },
    ],
  },
  transformHead: ({ pageData, siteData }) => [
    ["link", { rel: "alternate", type: "text/markdown", href: `${siteData.base}${pageData.relativePath}` }],
  ],
  buildEnd: ({ outDir }) => writeTexts(outDir),
  themeConfig: {
    nav: parts().map(({ text, items }) => ({
      text,
      link: items[0]?.link ?? "/",
      activeMatch: `^${(items[0]?.link ?? "/").replace(/[^/]*$/, "")}`,
    })),
    sidebar: parts().map(({ text, items }, i) => ({ text, items, collapsed: i > 0 })),
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        detailedView: true,
        miniSearch: {
          searchOptions: {
            // A term's own page comes before the adapters, of which many name it.
            boostDocument: (id: string) =>
              /\/(?:reference|guides|start)\//.test(id) ? 2 : id.includes("/adapters/") ? 0.5 : 1,
          },
        },
      },
    },
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    editLink: {
      pattern: `${REPOSITORY}/edit/main/docs/:path`,
      text: "Edit this page",
    },
  },
});

type Token = {
  type: string;
  children: Token[] | null;
  attrGet: (name: string) => string | null;
  attrSet: (name: string, value: string) => void;
};
/** Absolute paths: of the page's file, and of where the site puts it. */
type Env = { realPath?: string; path: string };
