import type { UserSummary } from "edgecairn";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

type Count = { of: UserSummary["quarantine"] | undefined; reload: () => void };

/** The numbers of the user's memories that wait, for the tab and for the page that changes them. */
export const WaitingCount = createContext<Count>({ of: undefined, reload: () => {} });
export const useWaitingCount = (): Count => useContext(WaitingCount);
