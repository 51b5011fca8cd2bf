import { useEffect, useState } from "preact/hooks";

/** A place in the console, in the fragment of its address: `#/users/alice/recall?query=…`. */
export type Route = { path: readonly string[]; query: URLSearchParams };

type Query = Readonly<Record<string, string | number | undefined>>;

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** An address of the console. Parts that are undefined are left out. */
export function to(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

export const go = (address: string): void => {
  location.hash = address;
};

/** Changes the query of the present place, without a step in the browser's history. */
export function setQuery(changes: Query): void {
  const { path, query } = routeOf(location.hash);
  const all = { ...Object.fromEntries(query), ...changes };
  history.replaceState(null, "", to(path, all));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const follow = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", follow);
    // It may have changed before this effect.
    if (routeOf(location.hash).path.join("/") !== route.path.join("/")) follow();
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

/** A part of an address that somebody has typed may be no valid encoding. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
