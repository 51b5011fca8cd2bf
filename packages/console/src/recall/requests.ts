import { address } from "../shell/session.ts";

/** A call as a command of the shell, with the variables that `npm start` prints. */
export const curlOf = (user: string, call: string, body: object): string =>
  `curl -sS ${shellWord(`${address()}/v1/users/${encodeURIComponent(user)}/${call}`)} \\
  -H "Authorization: Bearer $CAIRN_TOKEN" -H "Content-Type: application/json" \\
  -d ${shellWord(JSON.stringify(body))}`;

/** The same with the client. */
export const typescriptOf = (user: string, call: string, body: object): string =>
  `import { cairn } from "edgecairn";

const memory = cairn({ url: ${JSON.stringify(address())}, token: process.env.CAIRN_TOKEN ?? "" });
const answer = await memory.${call}(${JSON.stringify(user)}, ${JSON.stringify(body, null, 2)});
`;

const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
