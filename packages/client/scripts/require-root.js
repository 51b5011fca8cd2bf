// The client's tests run the Worker, whose packages are those of the repository's root: installs these if they are missing.
import { execSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
if (!existsSync(`${root}/node_modules/vitest`)) execSync("npm ci", { cwd: root, stdio: "inherit" });
