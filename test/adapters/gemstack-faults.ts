// Servers that fail, between a client and the Cairn that the tests run against.
import type { Fetch } from "../../src/client/index.ts";

/** Answers with this status as often as said, and then lets calls through. */
export function failing(status: number, times = Infinity): Fetch {
  let left = times;
  return (request) => {
    if (left-- <= 0) return fetch(request);
    const error = { code: "storage_unavailable", message: "as the test wants it", requestId: "r" };
    return Response.json({ error }, { status });
  };
}

/** Never answers; a signal ends it. */
export const silent: Fetch = ({ signal }) =>
  new Promise((_, reject) =>
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- as `fetch` does.
    signal.addEventListener("abort", () => reject(signal.reason)),
  );

/** Does what it is asked, and loses the first answer to such a call. */
export function losing(means: (request: Request) => boolean): Fetch {
  let lost = false;
  return async (request) => {
    const due = !lost && means(request);
    const response = await fetch(request);
    if (!due) return response;
    lost = true;
    throw new TypeError("the answer is lost");
  };
}

/** Lets calls through, and notes them. */
export function noting(): { fetch: Fetch; calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    fetch: (request) => {
      calls.push(`${request.method} ${new URL(request.url).pathname}`);
      return fetch(request);
    },
  };
}
