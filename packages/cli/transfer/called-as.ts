/** The command that calls this script: in the repository by npm, elsewhere by the package's `bin`. */
export const calledAs = (command: string): string =>
  process.argv[1]?.endsWith(".ts") === true ? `npm run ${command} --` : `npx edgecairn ${command}`;
