/** One line of a plot; its points go from left to right. */
export type PlotLine = { name: string; points: readonly (readonly [x: number, y: number])[] };
/** `linear`: axes from zero, and not logarithmic. */
export type Panel = { x: string; y: string; lines: readonly PlotLine[]; linear?: boolean };

const [WIDTH, PANEL, LEFT, GAP, TOP, BELOW] = [900, { width: 360, height: 270 }, 70, 75, 20, 56];
const LEGEND = { columns: 3, row: 22 };
/** Each can be read on white and on nearly black. */
export const COLOURS = [
  "#2f81f7",
  "#e5534b",
  "#2da44e",
  "#bf8700",
  "#a475f9",
  "#d6409f",
  "#768390",
  "#17a2b8",
];
export const INK = "#768390";

/** An SVG of panels side by side, with logarithmic axes unless a panel says otherwise. The same line has the same colour in all. */
export function plot(panels: readonly Panel[]): string {
  const names = [...new Set(panels.flatMap(({ lines }) => lines.map(({ name }) => name)))];
  const colourOf = (name: string) => COLOURS[names.indexOf(name) % COLOURS.length] ?? INK;
  const legendTop = TOP + PANEL.height + BELOW;
  const height = legendTop + Math.ceil(names.length / LEGEND.columns) * LEGEND.row + 6;
  const legend = names.map((name, i) => {
    const x = LEFT + (i % LEGEND.columns) * ((WIDTH - LEFT) / LEGEND.columns);
    const y = legendTop + Math.floor(i / LEGEND.columns) * LEGEND.row + 12;
    return `<path d="M${x} ${y - 4}h22" stroke="${colourOf(name)}" stroke-width="2.5"/>${text(x + 28, y, name)}`;
  });
  const drawnPanels = panels.map((panel, i) => drawn(panel, LEFT + i * (PANEL.width + GAP), colourOf));
  return picture([...drawnPanels, ...legend], { width: WIDTH, height });
}

/** An SVG of these elements. */
export const picture = (
  elements: readonly string[],
  { width, height }: { width: number; height: number },
): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="${INK}">`,
    ...elements,
    "</svg>",
    "",
  ].join("\n");

function drawn(
  { x, y, lines, linear = false }: Panel,
  left: number,
  colourOf: (name: string) => string,
): string {
  const points = lines.flatMap((line) => line.points);
  const axis = linear ? linearAxis : logarithmicAxis;
  const across = axis(
    points.map(([one]) => one),
    { from: left, to: left + PANEL.width },
  );
  const up = axis(
    points.map(([, one]) => one),
    { from: TOP + PANEL.height, to: TOP },
  );
  const bottom = TOP + PANEL.height;
  return [
    ...up.ticks.map(
      (n) =>
        `<path d="M${left} ${up.at(n)}h${PANEL.width}" stroke="${INK}" stroke-opacity="0.25"/>${text(left - 6, up.at(n) + 4, short(n), "end")}`,
    ),
    ...across.ticks.map(
      (n) =>
        `<path d="M${across.at(n)} ${bottom}v5" stroke="${INK}"/>${text(across.at(n), bottom + 19, short(n), "middle")}`,
    ),
    `<path d="M${left} ${bottom}h${PANEL.width}" stroke="${INK}"/>`,
    text(left + PANEL.width / 2, bottom + 40, x, "middle"),
    `<text transform="translate(${left - 48} ${TOP + PANEL.height / 2}) rotate(-90)" text-anchor="middle">${y}</text>`,
    ...lines.map((line) => {
      const places = line.points.map(([px, py]) => [across.at(px), up.at(py)] as const);
      const dots = places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3"/>`).join("");
      const path = `<path d="M${places.map((place) => place.join(" ")).join("L")}" fill="none" stroke="${colourOf(line.name)}" stroke-width="2"/>`;
      return `<g fill="${colourOf(line.name)}">${path}${dots}</g>`;
    }),
  ].join("\n");
}

const log = (n: number): number => Math.log10(Math.max(1, n));

type Ends = { from: number; to: number };
type Axis = { at: (n: number) => number; ticks: number[] };

/** An axis from zero to a round number, with about five steps. */
export function linearAxis(values: readonly number[], { from, to }: Ends): Axis {
  const most = Math.max(...values);
  const power = 10 ** Math.floor(Math.log10(most / 5));
  const step = power * ([1, 2, 5, 10].find((one) => one * power * 5 >= most) ?? 10);
  const count = Math.ceil(most / step);
  const at = (n: number) => Math.round((from + (n / (count * step)) * (to - from)) * 10) / 10;
  return { at, ticks: Array.from({ length: count + 1 }, (_, i) => i * step) };
}

/** A logarithmic axis over two powers of ten or more. Puts zero at one. */
function logarithmicAxis(values: readonly number[], { from, to }: Ends): Axis {
  const first = Math.floor(Math.min(...values.map(log)));
  const last = Math.max(first + 2, Math.ceil(Math.max(...values.map(log))));
  const at = (n: number) => Math.round((from + ((log(n) - first) / (last - first)) * (to - from)) * 10) / 10;
  return { at, ticks: Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i)) };
}

export const text = (x: number, y: number, what: string, anchor = "start"): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${what}</text>`;
const short = (n: number): string =>
  n >= 1_000_000 ? `${n / 1_000_000}M` : n >= 1_000 ? `${n / 1_000}k` : String(n);

/** Bars that belong together; one of each name. */
export type BarGroup = { name: string; bars: readonly { name: string; value: number }[] };

/** Of bars: their names stand at the left, their values at the right. */
const BARS = { left: 300, right: 70, top: 16, bar: 18, gap: 34 };

/** An SVG of horizontal bars in groups, each with its value in words. The same name has the same colour in all groups. */
export function bars(
  groups: readonly BarGroup[],
  { x, inWords }: { x: string; inWords: (value: number) => string },
): string {
  const values = groups.flatMap((group) => group.bars.map(({ value }) => value));
  const { left, right, top: first, bar, gap } = BARS;
  const { at, ticks } = linearAxis(values, { from: left, to: WIDTH - right });
  const names = [...new Set(groups.flatMap((group) => group.bars.map(({ name }) => name)))];
  let y = first;
  const parts = groups.flatMap((group) => {
    y += gap;
    const title = `<text x="16" y="${y - 10}" font-weight="bold">${group.name}</text>`;
    const rows = group.bars.map(({ name, value }) => {
      const top = y;
      y += bar;
      const colour = COLOURS[names.indexOf(name) % COLOURS.length] ?? INK;
      return [
        text(left - 8, top + bar - 5, name, "end"),
        `<rect x="${left}" y="${top + 2}" width="${Math.max(1, at(value) - left).toFixed(1)}" height="${bar - 4}" fill="${colour}"/>`,
        text(at(value) + 6, top + bar - 5, inWords(value)),
      ].join("");
    });
    return [title, ...rows];
  });
  const bottom = y + 8;
  const grid = ticks.map(
    (n) =>
      `<path d="M${at(n)} ${first + 10}V${bottom}" stroke="${INK}" stroke-opacity="0.25"/>${text(at(n), bottom + 17, String(n), "middle")}`,
  );
  const label = text((left + WIDTH - right) / 2, bottom + 38, x, "middle");
  return picture([...grid, ...parts, label], { width: WIDTH, height: bottom + 50 });
}
