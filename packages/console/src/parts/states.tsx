import type { ComponentChildren } from "preact";
import { Failure } from "./failure.tsx";
import type { Loaded, Pages } from "./load.ts";

/** What is shown while there is nothing: what it would be, and what to do. */
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

/** The address names a page that does not exist. */
export const NoPage = () => (
  <Empty>
    Nothing is at <code>{location.hash}</code>. <a href="#/">Go to the first page</a>.
  </Empty>
);

/** What is loaded, or that it is loading, or why it failed. */
export function Shown<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  return (
    <>
      <Failure error={of.error} retry={of.reload} />
      {of.value !== undefined && children(of.value)}
      {of.loading && of.value === undefined && (
        <p class="quiet" role="status">
          Loading …
        </p>
      )}
    </>
  );
}

/** The button for the next page of a list. */
export const More = ({ of }: { of: Pages<unknown> }) =>
  of.hasMore ? (
    <button type="button" class="more" disabled={of.loading} onClick={of.more}>
      {of.loading ? "Loading …" : "More"}
    </button>
  ) : null;
