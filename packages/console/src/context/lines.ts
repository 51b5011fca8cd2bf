/** A line of a block, and the layer that it is of. */
export type Line = { layer: string | null; text: string };

/** Sections have other names than their layers in one case (docs/reference/context.md). */
const LAYERS: Readonly<Record<string, string>> = { notes: "entries" };

/** The lines of a block in the format `xml`: `<facts>` opens the section of a layer, and `</facts>` closes it. */
export function linesOf(text: string): Line[] {
  let layer: string | null = null;
  return text.split("\n").map((line) => {
    const [, closes, name = ""] = /^<(\/?)([a-z]+)>$/.exec(line) ?? [];
    if (name === "" || name === "memory") return { layer, text: line };
    const of = LAYERS[name] ?? name;
    layer = closes === "/" ? null : of;
    return { layer: of, text: line };
  });
}
