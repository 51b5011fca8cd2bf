const WIDTH = 24;

/** How far a run is, on stderr: one line that is rewritten in a terminal, and elsewhere a line for each group of steps. */
export class Progress {
  readonly #total: number;
  readonly #silent: boolean;
  readonly #started = performance.now();
  #done = 0;
  #doing = 0;
  #group = "";

  /** `total`: the weights of all steps. */
  constructor(total: number, { silent = false } = {}) {
    this.#total = total;
    this.#silent = silent;
  }

  /** Begins a step, which ends the one before it. */
  step(group: string, what: string, weight: number): void {
    this.#done += this.#doing;
    this.#doing = weight;
    const isNew = group !== this.#group;
    this.#group = group;
    if (this.#silent || !(isNew || process.stderr.isTTY)) return;
    const share = Math.min(1, this.#done / this.#total);
    const seconds = (performance.now() - this.#started) / 1000;
    const left = share === 0 ? "" : `, ${Math.round((seconds * (1 - share)) / share)} s left`;
    const bar = "#".repeat(Math.round(share * WIDTH)).padEnd(WIDTH, "-");
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K[${bar}] ${group}: ${what}${left}`);
    else process.stderr.write(`${Math.round(share * 100)} % ${group}${left}\n`);
  }

  end(): void {
    if (!this.#silent && process.stderr.isTTY) process.stderr.write("\r\u001B[2K");
  }
}
