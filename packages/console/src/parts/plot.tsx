import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";

/**
 * `values`: one list for each series, in the order of `times` (milliseconds). `bars`: each series is a part of the one before it, and is
 * drawn over it. `lines`: the series are independent.
 */
type Props = {
  title: string;
  as: "bars" | "lines";
  times: readonly number[];
  series: readonly { label: string; values: readonly (number | null)[]; colour: string }[];
  format: (value: number) => string;
};

const HEIGHT = 180;

/** A plot over time, and the same numbers as a table for who does not see it. */
export function Plot({ title, as, times, series, format }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const inputs = JSON.stringify([as, times, series]);
  useEffect(() => {
    const element = place.current;
    if (element === null || times.length === 0) return undefined;
    const style = getComputedStyle(element);
    const ink = style.getPropertyValue("color");
    const grid = style.getPropertyValue("--line");
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const bars = UPlot.paths.bars?.({ size: [0.7, 60] });
    const plot = new UPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: HEIGHT,
        legend: {
          show: series.length > 1,
          markers: { width: 0, fill: (_, i) => series[i - 1]?.colour ?? "" },
        },
        // Where the pointer is, or else the last time: a legend without values is empty boxes.
        hooks: {
          setLegend: [(self) => self.legend.idx == null && self.setLegend({ idx: times.length - 1 })],
        },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
        axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map(format) }],
        series: [
          {},
          ...series.map(({ label, colour }) => ({
            label,
            stroke: colour,
            width: 2,
            // A value between two that are missing is a point without a line.
            points: { show: as === "lines", size: 5 },
            ...(as === "bars" && { fill: colour, ...(bars && { paths: bars }) }),
            value: (_: unknown, value: number | null) => (value === null ? "none" : format(value)),
          })),
        ],
      },
      [times.map((at) => at / 1000), ...series.map(({ values }) => [...values])],
      element,
    );
    plot.setLegend({ idx: times.length - 1 });
    const resize = new ResizeObserver(() =>
      plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }),
    );
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [inputs]);
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <div ref={place} aria-hidden="true" />
      <details>
        <summary>As a table</summary>
        <div class="wide">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" class="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((at, i) => (
                <tr key={at}>
                  <td>{new Date(at).toLocaleString()}</td>
                  {series.map(({ label, values }) => (
                    <td key={label} class="number">
                      {values[i] == null ? "" : format(values[i])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
