import { COLOURS, INK, linearAxis, picture, text } from "../plot.ts";
import { planned, USUAL_LAYERS } from "#domain/context/plan.ts";

const BUDGET = 2_000;
const [WIDTH, LEFT, RIGHT] = [900, 190, 60];
const [STABLE, TURN] = [COLOURS[0] ?? INK, COLOURS[2] ?? INK];
const [STRIP, ROWS, ROW] = [{ top: 34, height: 40 }, 126, 34];

/** An SVG of a prompt with its two blocks, and of the parts of the usual budget that the layers take at most. */
export function budgetPicture(): string {
  const layers = planned(USUAL_LAYERS, BUDGET);
  const names = (isStable: boolean) =>
    layers.filter(({ stable }) => stable === isStable).map(({ layer }) => layer.type);
  const strip = [
    { name: "instructions", width: 115 },
    { name: `stable block: ${names(true).join(", ")}`, width: 240, colour: STABLE },
    { name: "earlier turns, each with its block", width: 215 },
    { name: `turn’s block: changes, ${names(false).join(", ")}`, width: 220, colour: TURN },
    { name: "message", width: 70 },
  ];
  let x = 20;
  const parts = strip.map(({ name, width, colour = INK }) => {
    const left = x;
    x += width;
    return [
      `<rect x="${left}" y="${STRIP.top}" width="${width - 4}" height="${STRIP.height}" fill="${colour}" fill-opacity="0.25" stroke="${colour}"/>`,
      text(left + width / 2 - 2, STRIP.top + 24, name, "middle"),
    ].join("");
  });
  const { at, ticks } = linearAxis([BUDGET], { from: LEFT, to: WIDTH - RIGHT });
  const bottom = ROWS + layers.length * ROW;
  const rows = layers.map(({ layer, slot, max, stable }, i) => {
    const top = ROWS + i * ROW;
    const colour = stable ? STABLE : TURN;
    return [
      text(LEFT - 10, top + 20, `slot ${slot}: ${layer.type}`, "end"),
      `<rect x="${LEFT}" y="${top + 5}" width="${at(max) - LEFT}" height="${ROW - 12}" fill="${colour}"/>`,
      text(at(max) + 8, top + 20, `at most ${max.toLocaleString("en")}`),
    ].join("");
  });
  const grid = ticks.map(
    (n) =>
      `<path d="M${at(n)} ${ROWS}V${bottom}" stroke="${INK}" stroke-opacity="0.25"/>${text(at(n), bottom + 17, n.toLocaleString("en"), "middle")}`,
  );
  return picture(
    [
      text(20, 22, "A prompt, from its beginning on:"),
      ...parts,
      text(
        20,
        ROWS - 20,
        `A budget of ${BUDGET.toLocaleString("en")} tokens for both blocks: the layers fill it in the order of their slots.`,
      ),
      ...grid,
      ...rows,
      text((LEFT + WIDTH - RIGHT) / 2, bottom + 38, "tokens", "middle"),
    ],
    { width: WIDTH, height: bottom + 50 },
  );
}
