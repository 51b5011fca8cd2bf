/** Tells a model that a memory waits for review, and why; null if it is live. */
export function waitingText({
  status,
  id,
  conflictsWith,
}: {
  id: string;
  status: string;
  conflictsWith?: string | undefined;
}): string | null {
  if (status === "active") return null;
  const why =
    conflictsWith === undefined
      ? ""
      : ` It contradicts the memory ${conflictsWith}, which the user or the operator wrote.`;
  return `Kept for review (id ${id}), and not in use until a person releases it.${why}`;
}
