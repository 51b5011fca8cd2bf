import { COLOURS, INK, linearAxis, picture, text } from "../../bench/plot.ts";

/** Bars that belong together; one of each name. */
export type BarGroup = { name: string; bars: readonly { name: string; value: number }[] };

const [WIDTH, LEFT, RIGHT, TOP] = [900, 300, 70, 16];
const [BAR, GAP] = [18, 34];

/** An SVG of horizontal bars in groups, each with its value in words. The same name has the same colour in all groups. */
export function bars(
  groups: readonly BarGroup[],
  { x, inWords }: { x: string; inWords: (value: number) => string },
): string {
  const values = groups.flatMap((group) => group.bars.map(({ value }) => value));
  const { at, ticks } = linearAxis(values, { from: LEFT, to: WIDTH - RIGHT });
  const names = [...new Set(groups.flatMap((group) => group.bars.map(({ name }) => name)))];
  let y = TOP;
  const drawn = groups.flatMap((group) => {
    y += GAP;
    const title = `<text x="16" y="${y - 10}" font-weight="bold">${group.name}</text>`;
    const rows = group.bars.map(({ name, value }) => {
      const top = y;
      y += BAR;
      const colour = COLOURS[names.indexOf(name) % COLOURS.length] ?? INK;
      return [
        text(LEFT - 8, top + BAR - 5, name, "end"),
        `<rect x="${LEFT}" y="${top + 2}" width="${Math.max(1, at(value) - LEFT).toFixed(1)}" height="${BAR - 4}" fill="${colour}"/>`,
        text(at(value) + 6, top + BAR - 5, inWords(value)),
      ].join("");
    });
    return [title, ...rows];
  });
  const bottom = y + 8;
  const grid = ticks.map(
    (n) =>
      `<path d="M${at(n)} ${TOP + 10}V${bottom}" stroke="${INK}" stroke-opacity="0.25"/>${text(at(n), bottom + 17, String(n), "middle")}`,
  );
  const label = text((LEFT + WIDTH - RIGHT) / 2, bottom + 38, x, "middle");
  return picture([...grid, ...drawn, label], { width: WIDTH, height: bottom + 50 });
}
