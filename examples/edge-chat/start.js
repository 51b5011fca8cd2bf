// `npm start`: the chat and its memory in one process of wrangler, offline. MODEL=@cf/… asks a model of Workers AI instead.
import { join } from "node:path";
import { CAIRN, run, secretFile, wrangler } from "./wrangler.js";

const { PORT = "8788", MODEL, CAIRN_STATE = join(import.meta.dirname, ".wrangler/state") } = process.env;
const state = ["--persist-to", CAIRN_STATE];
process.env.WRANGLER_SEND_METRICS ??= "false";

secretFile();
// Else wrangler asks whether it may.
process.env.CI ??= "true";
await run("d1", "migrations", "apply", "DB", "--local", ...CAIRN, ...state);
console.log(`The chat is at http://127.0.0.1:${PORT}. Ctrl-C stops it; what it remembers stays.`);
const model = MODEL === undefined ? ["--local", "--var", "MODEL:scripted"] : ["--var", `MODEL:${MODEL}`];
const quiet = ["--inspector-port", "0", "--log-level", "error", "--show-interactive-dev-session=false"];
const configs = ["-c", "wrangler.toml", ...CAIRN];
const options = ["--ip", "127.0.0.1", "--port", PORT, ...state, ...model, ...quiet];
const { child, ended } = wrangler("dev", ...configs, ...options);
// Ctrl-C in a terminal reaches both processes; a signal of another program reaches this one alone.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
process.exitCode = await ended;
