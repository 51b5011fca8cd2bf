// The documents' links, for a copy of a page that stands elsewhere.
import { posix } from "node:path";

/** Where a reader finds a file or a folder of the repository, as a page. */
export const ON_GITHUB = "https://github.com/edgecairn/cairn/blob/main/";
/** The text of a file alone, for a program. */
export const RAW_ON_GITHUB = "https://raw.githubusercontent.com/edgecairn/cairn/main/";

/** The path in the repository of a relative link on `page`, and its anchor; null for a link that leads elsewhere. */
export function targetOf(link: string, page: string): { path: string; anchor: string } | null {
  if (/^(?:[a-z]+:|\/|#)/.test(link)) return null;
  const [path = "", anchor] = link.split("#");
  return {
    path: posix.join(posix.dirname(page), decodeURI(path)),
    anchor: anchor === undefined ? "" : `#${anchor}`,
  };
}

/** The text of `page` with each relative link made by `to` from its path in the repository. Code stays as it is. */
export const withLinks = (text: string, page: string, to: (path: string) => string): string =>
  text
    .split(/(^```[^]*?^```$)/m)
    .map((part) =>
      part.startsWith("```")
        ? part
        : part.replaceAll(/\]\(([^)\s]+)\)/g, (whole, link: string) => {
            const target = targetOf(link, page);
            return target === null ? whole : `](${to(target.path)}${target.anchor})`;
          }),
    )
    .join("");
