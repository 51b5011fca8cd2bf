const WIDTH = 30;
const { stdout } = process;

export const bold = (text: string): string => (stdout.isTTY ? `\u001b[1m${text}\u001b[0m` : text);
export const faint = (text: string): string => (stdout.isTTY ? `\u001b[2m${text}\u001b[0m` : text);

/** A progress bar that is drawn in place on a terminal, and as one line at the end elsewhere. */
export function progress(label: string, total: number): (done: number) => void {
  const started = performance.now();
  return (done) => {
    const finished = done >= total;
    if (!stdout.isTTY && !finished) return;
    const filled = total === 0 ? WIDTH : Math.round((WIDTH * done) / total);
    const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    stdout.write(`${stdout.isTTY ? "\r" : ""}  ${label.padEnd(24)}${bar} ${done}/${total}  ${seconds} s`);
    if (finished) stdout.write("\n");
  };
}

/** The value below which `share` of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
