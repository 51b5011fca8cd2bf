/** The condition of a write on the stored version: HTTP's If-Match and If-None-Match. `any`: some version. */
export type Precondition = { ifMatch?: "any" | string[]; ifNoneMatch?: "any" | string[] };

/** True if the condition holds for the version that is there (null: none). */
export function holds({ ifMatch, ifNoneMatch }: Precondition, version: string | null): boolean {
  if (ifMatch !== undefined && !matches(ifMatch, version)) return false;
  return ifNoneMatch === undefined || !matches(ifNoneMatch, version);
}

const matches = (wanted: "any" | string[], version: string | null): boolean =>
  version !== null && (wanted === "any" || wanted.includes(version));

/** The condition that `ifVersion` stands for: null means that there is none yet. */
export const conditionOnVersion = (version: string | number | null | undefined): Precondition =>
  version === undefined ? {} : version === null ? { ifNoneMatch: "any" } : { ifMatch: [String(version)] };
