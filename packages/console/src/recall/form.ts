import type { RecallBody } from "edgecairn";
import { type Part, partNames } from "./parts.ts";

export const KINDS = ["fact", "episode", "procedure", "reflection", "message"] as const;
export const ROLES = ["user", "assistant", "tool"] as const;
/** Hits that are asked for beyond those that the caller would get, to show what is left out. */
export const BEYOND = 10;
export const MOST = 100;

/** The form, as the address has it. */
export type Form = {
  query: string;
  k: number;
  kinds: string[];
  roles: string[];
  minScore: number;
  asOf?: number;
  referenceDate?: number;
  answerable: boolean;
  timeMode: boolean;
  weights: Partial<Record<Part, number>>;
};

export function formOf(query: URLSearchParams): Form {
  const number = (name: string) => (query.has(name) ? Number(query.get(name)) : undefined);
  const list = (name: string) => query.get(name)?.split(",").filter(Boolean) ?? [];
  const weights = partNames.flatMap((part) => {
    const weight = number(`w-${part}`);
    return weight === undefined || Number.isNaN(weight) ? [] : [[part, weight] as const];
  });
  const [asOf, referenceDate] = [number("asOf"), number("referenceDate")];
  return {
    query: query.get("query") ?? "",
    k: number("k") ?? 10,
    kinds: list("kinds"),
    roles: list("roles"),
    minScore: number("minScore") ?? 0,
    ...(asOf !== undefined && { asOf }),
    ...(referenceDate !== undefined && { referenceDate }),
    answerable: query.get("answerable") === "auto",
    timeMode: query.get("timeMode") !== "off",
    weights: Object.fromEntries(weights),
  };
}

/** The body of the call, as a program would send it. */
export function bodyOf({ kinds, roles, minScore, answerable, timeMode, weights, ...form }: Form): RecallBody {
  return {
    ...form,
    // The form offers the known kinds only.
    ...(kinds.length > 0 && { kinds: kinds as NonNullable<RecallBody["kinds"]> }),
    ...(roles.length > 0 && { roles }),
    ...(minScore > 0 && { minScore }),
    ...(answerable && { answerable: "auto" as const }),
    ...(!timeMode && { timeMode: "off" as const }),
    ...(Object.keys(weights).length > 0 && { weights }),
  };
}

/** How many options differ from those of a bare call. */
export const optionsOf = (query: URLSearchParams): number =>
  [...query.keys()].filter((name) => name !== "query").length;
