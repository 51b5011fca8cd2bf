import type { UserSummary } from "edgecairn";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Loaded } from "../parts/load.ts";

/** The counts of the user's data, for the tabs and for the pages that show or change it; null if the token may not read them. */
export type Stored = Loaded<UserSummary | null>;

export const StoredProvider = createContext<Stored>({
  value: undefined,
  error: null,
  loading: true,
  reload: () => {},
});
/** The memories that are not in quarantine, also those that are not true now. */
export const reviewedOf = ({ memories, quarantine: { waiting, expired } }: UserSummary): number =>
  Math.max(0, memories - waiting - expired);
export const useStored = (): Stored => useContext(StoredProvider);
