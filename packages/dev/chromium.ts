// A browser without a window, for the console's tests and its benchmark: Debian's Chromium (`apt-get install chromium`).
import { type Browser, chromium } from "playwright-core";

const ARGUMENTS = [
  // As root, and in a container, there is no sandbox within the sandbox.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  // It would look for hosts of its own.
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** `CHROMIUM` names another path than Debian's. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: ARGUMENTS });
