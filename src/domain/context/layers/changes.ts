import { factLine } from "./facts.ts";

/** The section of a turn's block that tells what has changed of the stable one. No request asks for it. */
export const changes = { name: "changes", line: factLine } as const;
