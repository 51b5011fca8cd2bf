import { count } from "../parts/numbers.ts";
import type { Decision } from "./review.ts";

type ReviewBarProps = {
  /** Memories that are shown, of these selected, and all that wait. */
  shown: number;
  selected: number;
  total: number;
  /** All that wait are selected, also those that are not shown. */
  everything: boolean;
  select: (which: "none" | "shown" | "everything") => void;
  /** `others`: on those that are not selected. */
  decide: (decision: Decision, others?: boolean) => void;
};

/** Selects what waits, and decides on it at once. */
export function ReviewBar({ shown, selected, total, everything, select, decide }: ReviewBarProps) {
  const chosen = everything ? total : selected;
  const all = selected === shown;
  return (
    <div class="review" role="group" aria-label="Selected memories">
      <label class="check">
        <input
          type="checkbox"
          checked={all}
          onChange={(event) => select(event.currentTarget.checked ? "shown" : "none")}
        />{" "}
        Select all shown
      </label>
      {all && total > shown && !everything && (
        <button type="button" onClick={() => select("everything")}>
          Select all {count(total)} that wait
        </button>
      )}
      <button type="button" class="main" disabled={chosen === 0} onClick={() => decide("release")}>
        Release {count(chosen)} selected
      </button>
      <button type="button" class="danger" disabled={chosen === 0} onClick={() => decide("reject")}>
        Reject {count(chosen)} selected
      </button>
      {selected > 0 && selected < shown && shown === total && (
        <button type="button" onClick={() => decide("release", true)}>
          Release the other {count(shown - selected)}
        </button>
      )}
    </div>
  );
}
