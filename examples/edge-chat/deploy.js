// `npm run deploy`: first the memory with its database, then the chat. It may be run again at any time.
import { CAIRN, run, secretFile } from "./wrangler.js";

await run("deploy", ...CAIRN, "--secrets-file", secretFile());
await run("d1", "migrations", "apply", "DB", "--remote", ...CAIRN);
await run("deploy");
